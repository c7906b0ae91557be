import * as vscode from 'vscode';
import { debugType } from '../debug/debugType';
import { describeNode, iconOf, sayNode, type TreeNode, treePageShape, treePlaceShape } from './treeNode';

export const viewId = 'neuralDebug.stateTree';

/** How many children are asked for at a time. */
const pageSize = 200;

/** How many pages are loaded so that the current state can be shown. */
const maxPagesToReveal = 60;

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
  | { readonly kind: 'more'; readonly parent: StateEntry | null };

type StateEntry = Extract<TreeEntry, { kind: 'state' }>;

/**
 * The state tree of the session that is looked at: the calls and what happened in them, with the current state, how sure each
 * is, and the branches. All of it is read from what was predicted; nothing is asked of a model.
 */
export class StateTree implements vscode.TreeDataProvider<TreeEntry> {
  readonly #changed = new vscode.EventEmitter<TreeEntry | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  /** How many pages of a node's children are shown, by the node's state; -1 for the roots. */
  readonly #pages = new Map<number, number>();
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
    if (session?.id !== this.#session?.id) this.#pages.clear();
    this.#session = session;
    this.refresh();
  }

  /** A session has gone on: shows where it is now, unless another one is looked at. */
  async follow(session: vscode.DebugSession, state: number): Promise<void> {
    this.#current.set(session.id, state);
    const active = vscode.debug.activeDebugSession;
    if (active && active.id !== session.id) return;
    this.#show(session);
    await this.#revealCurrent();
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

  /** Shows more of a node's children. */
  more(entry: TreeEntry): void {
    const at = entry.parent?.node.state ?? -1;
    this.#pages.set(at, (this.#pages.get(at) ?? 1) + 1);
    this.#changed.fire(entry.parent ?? undefined);
  }

  getTreeItem(entry: TreeEntry): vscode.TreeItem {
    switch (entry.kind) {
      case 'state':
        return this.#stateItem(entry);
      case 'alternative':
        return this.#alternativeItem(entry);
      case 'more':
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
    let after: number | null = null;
    const session = this.#session;
    const pages = this.#pages.get(parent?.node.state ?? -1) ?? 1;
    for (let page = 0; page < pages; page++) {
      const said = await this.#page(parent, after);
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

  async #page(parent: StateEntry | null, after: number | null) {
    const said = await this.#ask('neuralDebug/stateTree', {
      parent: parent?.node.state ?? null,
      after,
      count: pageSize,
    });
    const parsed = treePageShape.safeParse(said);
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

  /** Opens the calls around a state and selects it. */
  async #reveal(state: number): Promise<void> {
    const session = this.#session;
    const parsed = treePlaceShape.safeParse(await this.#ask('neuralDebug/treeNode', { state }));
    if (!parsed.success) return;
    const way = [...parsed.data.ancestors.map((node) => node.state), state];
    let parent: StateEntry | null = null;
    for (const at of way) {
      const found: StateEntry | null = await this.#load(parent, at);
      if (!found || session?.id !== this.#session?.id) return;
      parent = found;
    }
    if (parent) await this.#view?.reveal(parent, { select: true, focus: false, expand: false });
  }

  /** The entry of a child, once as many pages as that needs are shown. */
  async #load(parent: StateEntry | null, state: number): Promise<StateEntry | null> {
    const key = parent?.node.state ?? -1;
    for (let pages = this.#pages.get(key) ?? 1; pages <= maxPagesToReveal; pages++) {
      this.#pages.set(key, pages);
      const children = await this.getChildren(parent ?? undefined);
      const found = this.#entries.get(state);
      if (found) return found;
      if (children.at(-1)?.kind !== 'more') return null;
    }
    return null;
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
    const item = new vscode.TreeItem('Show more…');
    item.iconPath = new vscode.ThemeIcon('ellipsis');
    item.command = { command: 'neuralDebug.showMoreStates', title: 'Show More', arguments: [entry] };
    return item;
  }
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
