/**
 * The requests whose failure a client is not to show by itself: it shows it where the answer would stand, or asks
 * again, or the user asked for nothing.
 */
export const quietRequests: ReadonlySet<string> = new Set([
  'stackTrace',
  'scopes',
  'variables',
  'evaluate',
  'exceptionInfo',
  'breakpointLocations',
  'dataBreakpointInfo',
  'neuralDebug/recording',
  'loadedSources',
  'stepInTargets',
  'completions',
  'neuralDebug/inlineValues',
  'neuralDebug/stateTree',
  'neuralDebug/treeNode',
  'neuralDebug/about',
  'neuralDebug/editorText',
  'cancel',
  'threads',
]);
