import type { DebugProtocol } from '@vscode/debugprotocol';

/** What the adapter can do, whatever the world. */
export const capabilities: DebugProtocol.Capabilities = {
  supportsConfigurationDoneRequest: true,
  supportsConditionalBreakpoints: true,
  supportsStepBack: true,
  supportsEvaluateForHovers: true,
  supportsClipboardContext: true,
  supportsBreakpointLocationsRequest: true,
  supportsExceptionInfoRequest: true,
  supportsDelayedStackTraceLoading: true,
  supportsLoadedSourcesRequest: true,
  supportsRestartRequest: true,
  supportsTerminateRequest: true,
  supportsCancelRequest: true,
  exceptionBreakpointFilters: [
    {
      filter: 'raised',
      label: 'Raised Exceptions',
      description: 'Stop where an exception is raised, caught or not.',
      default: false,
    },
    {
      filter: 'uncaught',
      label: 'Uncaught Exceptions',
      description: 'Stop where an exception was raised that ends the program.',
      default: true,
    },
  ],
};
