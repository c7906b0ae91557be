import * as vscode from 'vscode';
import { debugType } from '../debug/debugType';
import { describeNode, iconOf, sayNode, type TreeNode, treePageShape, treePlaceShape } from './treeNode';

export const viewId = 'neuralDebug.stateTree';

/** How many children are asked for at a time. */
const pageSize = 200;

/** How many children before a state are shown where what is shown of a long call begins anew for it. */
const shownBefore = 50;

/** How long the editor takes to unfold a view, in milliseconds. */
const unfoldingTime = 400;

/** An entry of the view: a state, a state on another branch in its place, or a way to more of them. */
export type TreeEntry =
  | { readonly kind: 'state'; readonly node: TreeNode; readonly parent: StateEntry | null }
  | {
      readonly kind: 'alternative';
      readonly state: number;
      readonly label: string;
      readonly parent: StateEntry;
    }
  | { readonly kind: 'more'; readonly parent: StateEntry | null }
  | { readonly kind: 'earlier'; readonly parent: StateEntry; readonly before: number };

type StateEntry = Extract<TreeEntry, { kind: 'state' }>;

/** Which of a node's children are shown: a call can have tens of thousands. */
interface Window {
  /** The child after which they begin; null: from the first one on. */
  readonly after: number | null;
  readonly pages: number;
}

const beginning: Window = { after: null, pages: 1 };

/**
 * The state tree of the session that is looked at: the calls and what happened in them, with the current state, how sure each
 * is, and the branches. All of it is read from what was predicted; nothing is asked of a model.
 */
export class StateTree implements vscode.TreeDataProvider<TreeEntry> {
  readonly #changed = new vscode.EventEmitter<TreeEntry | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  /** What is shown of a node's children, by the node's state; -1 for the roots. */
  readonly #windows = new Map<number, Window>();
  /** The entries that the view was given, by their state. */
  #entries = new Map<number, StateEntry>();
  #session: vscode.DebugSession | null = null;
  /** The current states of the sessions that have stopped, by session. */
  readonly #current = new Map<string, number>();
  #view: vscode.TreeView<TreeEntry> | null = null;

  /** Shows the view, for as long as the extension is active. */
  register(): vscode.Disposable {
    const view = vscode.window.createTreeView(viewId, { treeDataProvider: this, showCollapseAll: true });
    this.#view = view;
    const sessions = vscode.debug.onDidChangeActiveDebugSession((session) => {
      this.#show(session?.type === debugType ? session : null);
      void this.#revealCurrent();
    });
    const ends = vscode.debug.onDidTerminateDebugSession(({ id }) => {
      this.#current.delete(id);
      if (this.#session?.id === id) this.#show(null);
    });
    const visible = view.onDidChangeVisibility((event) => {
      // A view that is being unfolded has no height yet, in which something could be revealed.
      if (event.visible) setTimeout(() => void this.#revealCurrent(), unfoldingTime);
    });
    return vscode.Disposable.from(view, sessions, ends, visible, this.#changed);
  }

  /** Shows a session's tree. */
  #show(session: vscode.DebugSession | null): void {
    if (session?.id !== this.#session?.id) this.#windows.clear();
    this.#session = session;
    this.refresh();
  }

  /** A session has gone on: shows where it is now, unless another one is looked at. */
  async follow(session: vscode.DebugSession, state: number): Promise<void> {
    this.#current.set(session.id, state);
    const active = vscode.debug.activeDebugSession;
    if (active && active.id !== session.id) return;
    if (session.id !== this.#session?.id) this.#show(session);
    if (this.#view?.visible === true) await this.#reveal(state);
    else this.refresh();
  }

  /** What is known of a session's states has changed. */
  changed(session: vscode.DebugSession): void {
    if (session.id === this.#session?.id) this.refresh();
  }

  async #revealCurrent(): Promise<void> {
    const current = this.#session && this.#current.get(this.#session.id);
    if (this.#view?.visible === true && typeof current === 'number') await this.#reveal(current);
  }

  refresh(): void {
    this.#entries = new Map();
    this.#changed.fire(undefined);
  }

  /** The entry that is selected in the view; null where there is none. */
  get selected(): TreeEntry | null {
    return this.#view?.selection[0] ?? null;
  }

  /** Shows more of a node's children: those that follow what is shown, or those before. */
  async more(entry: TreeEntry): Promise<void> {
    const key = keyOf(entry.parent);
    const { after, pages } = this.#windows.get(key) ?? beginning;
    const isEarlier = entry.kind === 'earlier';
    this.#windows.set(key, {
      after: isEarlier ? await this.#beginningBefore(entry.parent, entry.before, pageSize) : after,
      pages: pages + 1,
    });
    this.#changed.fire(entry.parent ?? undefined);
  }

  getTreeItem(entry: TreeEntry): vscode.TreeItem {
    switch (entry.kind) {
      case 'state':
        return this.#stateItem(entry);
      case 'alternative':
        return this.#alternativeItem(entry);
      case 'more':
      case 'earlier':
        return this.#moreItem(entry);
    }
  }

  async getChildren(entry?: TreeEntry): Promise<TreeEntry[]> {
    if (entry && entry.kind !== 'state') return [];
    const parent = entry ?? null;
    const children: TreeEntry[] = (parent?.node.alternatives ?? []).map(({ state, label }) => ({
      kind: 'alternative',
      state,
      label,
      parent: parent as StateEntry,
    }));
    if (parent && !parent.node.hasChildren) return children;
    const session = this.#session;
    const { after: begins, pages } = this.#windows.get(keyOf(parent)) ?? beginning;
    if (parent && begins !== null) children.push({ kind: 'earlier', parent, before: begins });
    let after = begins;
    for (let page = 0; page < pages; page++) {
      const said = await this.#page({ parent: parent?.node.state ?? null, after, count: pageSize });
      // Meanwhile another session may be looked at.
      if (session?.id !== this.#session?.id) return [];
      if (!said) return children;
      for (const node of said.nodes) {
        const child: StateEntry = { kind: 'state', node, parent };
        this.#entries.set(node.state, child);
        children.push(child);
        after = node.state;
      }
      if (!said.hasMore) return children;
    }
    return [...children, { kind: 'more', parent }];
  }

  getParent(entry: TreeEntry): TreeEntry | null {
    return entry.parent;
  }

  async #page(which: { parent: number | null; after?: number | null; before?: number; count: number }) {
    const parsed = treePageShape.safeParse(await this.#ask('neuralDebug/stateTree', which));
    return parsed.success ? parsed.data : null;
  }

  /** Before the first stop, and once the session has ended, there is nothing to show. */
  async #ask(request: string, args: object): Promise<unknown> {
    try {
      return await this.#session?.customRequest(request, args);
    } catch {
      return null;
    }
  }

  /** Opens the calls around a state and selects it. All that is shown is drawn anew. */
  async #reveal(state: number): Promise<void> {
    const session = this.#session;
    const parsed = treePlaceShape.safeParse(await this.#ask('neuralDebug/treeNode', { state }));
    if (!parsed.success) {
      this.refresh();
      return;
    }
    const way = [...parsed.data.ancestors.map((node) => node.state), state];
    this.#entries = new Map();
    let parent: StateEntry | null = null;
    for (const at of way) {
      const found: StateEntry | null = await this.#load(parent, at);
      if (session?.id !== this.#session?.id) return;
      parent = found;
      if (!found) break;
    }
    this.#changed.fire(undefined);
    if (parent) await this.#view?.reveal(parent, { select: true, focus: false, expand: false });
  }

  /** The entry of a child, once what is shown of its parent holds it. */
  async #load(parent: StateEntry | null, state: number): Promise<StateEntry | null> {
    await this.getChildren(parent ?? undefined);
    const shown = this.#entries.get(state);
    if (shown || !parent) return shown ?? null;
    const after = await this.#beginningBefore(parent, state, shownBefore);
    this.#windows.set(keyOf(parent), { after, pages: 1 });
    await this.getChildren(parent);
    return this.#entries.get(state) ?? null;
  }

  /** After which child to begin so that so many before another one are shown; null: with the first. */
  async #beginningBefore(parent: StateEntry, before: number, count: number): Promise<number | null> {
    const page = await this.#page({ parent: parent.node.state, before, count: count + 1 });
    const [first] = page?.nodes ?? [];
    return first !== undefined && page !== null && page.nodes.length > count ? first.state : null;
  }

  #stateItem({ node, parent }: StateEntry): vscode.TreeItem {
    const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
    const opens = node.hasChildren || node.alternatives.length > 0;
    const item = new vscode.TreeItem(node.label, !opens ? None : parent ? Collapsed : Expanded);
    item.id = `${this.#session?.id ?? ''}:${node.state}`;
    item.description = describeNode(node);
    item.iconPath = new vscode.ThemeIcon(iconOf(node), colorOf(node));
    item.accessibilityInformation = { label: sayNode(node) };
    item.tooltip = new vscode.MarkdownString().appendText(
      [node.label, describeNode(node), node.doubt === null ? '' : `Doubtful: ${node.doubt}`].join('\n'),
    );
    item.contextValue = node.event === 'line' || node.event === 'call' ? 'state' : 'leaving';
    item.command = goTo(node.state);
    return item;
  }

  #alternativeItem({ state, label }: Extract<TreeEntry, { kind: 'alternative' }>): vscode.TreeItem {
    const item = new vscode.TreeItem(label);
    item.id = `${this.#session?.id ?? ''}:branch:${state}`;
    item.description = 'another branch';
    item.iconPath = new vscode.ThemeIcon('git-branch');
    item.contextValue = 'alternative';
    item.command = goTo(state);
    return item;
  }

  #moreItem(entry: TreeEntry): vscode.TreeItem {
    const item = new vscode.TreeItem(entry.kind === 'earlier' ? 'Show earlier…' : 'Show more…');
    item.iconPath = new vscode.ThemeIcon('ellipsis');
    item.command = { command: 'neuralDebug.showMoreStates', title: 'Show More', arguments: [entry] };
    return item;
  }
}

function keyOf(parent: StateEntry | null): number {
  return parent?.node.state ?? -1;
}

function goTo(state: number): vscode.Command {
  return { command: 'neuralDebug.goToState', title: 'Go to State', arguments: [{ state }] };
}

function colorOf({ verdict, isPast, isCurrent }: TreeNode): vscode.ThemeColor | undefined {
  // The tests' color of failures is none in high contrast.
  if (verdict === 'different') return new vscode.ThemeColor('problemsErrorIcon.foreground');
  if (verdict === 'same') return new vscode.ThemeColor('testing.iconPassed');
  // What lies ahead of the current state was predicted, but is not where the session stands.
  return isPast || isCurrent ? undefined : new vscode.ThemeColor('disabledForeground');
}
