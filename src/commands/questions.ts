import * as vscode from 'vscode';

/** That a person went back to the question before. */
export const back = Symbol('back');
/** That a person left the questions. */
export const left = Symbol('left');

/** A button in the title of a question, and what pressing it answers. */
export interface TitleButton<T> extends vscode.QuickInputButton {
  readonly answer: T;
}

interface Question<T> {
  readonly title: string;
  readonly step: number;
  readonly totalSteps: number;
  readonly canGoBack: boolean;
  readonly buttons?: readonly TitleButton<T>[];
}

/** A question that is answered by a text. */
export interface TextQuestion<T> extends Question<T> {
  readonly prompt: string;
  readonly placeholder?: string;
  readonly value?: string;
  readonly password?: boolean;
  /** What is wrong with a text, or null. */
  readonly problem?: (text: string) => string | null;
}

/** Asks for a text. The box stays open when the window loses the focus, so that nothing typed is lost. */
export async function askText<T = never>(
  question: TextQuestion<T>,
): Promise<string | T | typeof back | typeof left> {
  const box = vscode.window.createInputBox();
  Object.assign(box, {
    prompt: question.prompt,
    placeholder: question.placeholder,
    value: question.value ?? '',
    password: question.password ?? false,
  });
  const problem = question.problem ?? (() => null);
  return answered<string | T>(box, question, (give) => {
    box.onDidChangeValue((text) => {
      box.validationMessage = text.trim() === '' ? undefined : (problem(text) ?? undefined);
    });
    box.onDidAccept(() => {
      box.validationMessage = problem(box.value) ?? undefined;
      if (box.validationMessage === undefined) give(box.value.trim());
    });
  });
}

/** A question that is answered by choosing one of several. */
export interface ChoiceQuestion<Item extends vscode.QuickPickItem, T> extends Question<T> {
  readonly placeholder: string;
  readonly items: readonly Item[];
}

/** Asks for one of several. The first is chosen unless another is. */
export async function askChoice<Item extends vscode.QuickPickItem, T = never>(
  question: ChoiceQuestion<Item, T>,
): Promise<Item | T | typeof back | typeof left> {
  const pick = vscode.window.createQuickPick<Item>();
  Object.assign(pick, {
    placeholder: question.placeholder,
    items: question.items,
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return answered<Item | T>(pick, question, (give) => {
    pick.onDidAccept(() => {
      const [chosen] = pick.selectedItems;
      if (chosen) give(chosen);
    });
  });
}

function answered<Answer>(
  input: vscode.QuickPick<vscode.QuickPickItem> | vscode.InputBox,
  question: Question<Answer>,
  listen: (give: (answer: Answer) => void) => void,
): Promise<Answer | typeof back | typeof left> {
  const own = question.buttons ?? [];
  input.title = question.title;
  input.step = question.step;
  input.totalSteps = question.totalSteps;
  input.ignoreFocusOut = true;
  input.buttons = [...(question.canGoBack ? [vscode.QuickInputButtons.Back] : []), ...own];
  return new Promise((done) => {
    const end = (answer: Answer | typeof back | typeof left) => {
      done(answer);
      input.dispose();
    };
    input.onDidTriggerButton((button) => {
      const pressed = own.find((each) => each === button);
      end(pressed ? pressed.answer : back);
    });
    input.onDidHide(() => {
      end(left);
    });
    listen(end);
    input.show();
  });
}
