import * as vscode from 'vscode';
import { debugType } from './debug/debugType';
import { dynamicConfigurations } from './debug/dynamicConfigurations';
import { isServed, isUnmarkedRecording } from './languageClient/documents';

/**
 * Registers stand-ins only: the editor waits for this, and most windows that show a Python file debug nothing.
 * Everything else is in a bundle of its own (`wiring.ts`), which is loaded with the first command or session, or
 * after activation where a document wants lenses.
 */
export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('Neural Debug', { log: true });
  const untilLoaded: vscode.Disposable[] = [];
  let loading: Promise<vscode.DebugConfigurationProvider> | null = null;
  const load = () =>
    (loading ??= import('./wiring').then(({ wire }) => {
      // The commands are now registered for real.
      for (const standIn of untilLoaded.splice(0)) standIn.dispose();
      return wire(context, log);
    }));

  for (const command of commandsOf(context.extension.packageJSON as Manifest)) {
    untilLoaded.push(
      vscode.commands.registerCommand(command, async (...args: unknown[]) => {
        await load();
        return vscode.commands.executeCommand(command, ...args);
      }),
    );
  }
  const configurations: vscode.DebugConfigurationProvider = {
    provideDebugConfigurations: async (...args) => (await load()).provideDebugConfigurations?.(...args),
    resolveDebugConfiguration: async (...args) => (await load()).resolveDebugConfiguration?.(...args),
    resolveDebugConfigurationWithSubstitutedVariables: async (...args) =>
      (await load()).resolveDebugConfigurationWithSubstitutedVariables?.(...args),
  };
  const { Dynamic } = vscode.DebugConfigurationProviderTriggerKind;
  const loadFor = (document: vscode.TextDocument) => {
    if (!isServed(document) && !isUnmarkedRecording(document)) return;
    load().catch((thrown: unknown) => {
      log.error('The extension is damaged:', String(thrown));
    });
  };
  untilLoaded.push(vscode.workspace.onDidOpenTextDocument(loadFor));
  const activated = setTimeout(() => {
    vscode.workspace.textDocuments.forEach(loadFor);
  }, 0);
  untilLoaded.push(
    new vscode.Disposable(() => {
      clearTimeout(activated);
    }),
  );
  context.subscriptions.push(
    log,
    vscode.debug.registerDebugConfigurationProvider(debugType, configurations),
    vscode.debug.registerDebugConfigurationProvider(debugType, dynamicConfigurations, Dynamic),
    new vscode.Disposable(() => {
      for (const standIn of untilLoaded) standIn.dispose();
    }),
  );
}

/** The parts of package.json that are read here. */
interface Manifest {
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly debuggers: readonly { readonly variables: Readonly<Record<string, string>> }[];
  };
}

/** The commands that package.json names. */
function commandsOf({ contributes }: Manifest): string[] {
  return [
    ...contributes.commands.map(({ command }) => command),
    ...contributes.debuggers.flatMap(({ variables }) => Object.values(variables)),
  ];
}
