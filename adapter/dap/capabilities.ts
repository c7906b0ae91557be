import type { DebugProtocol } from '@vscode/debugprotocol';
import type { Client } from './client';
import { exceptionBreakpointFilters } from './exceptionFilters';

/** What the adapter can do, whatever the world and the client. */
const always: DebugProtocol.Capabilities = {
  supportsConfigurationDoneRequest: true,
  supportsConditionalBreakpoints: true,
  supportsHitConditionalBreakpoints: true,
  supportsLogPoints: true,
  supportsFunctionBreakpoints: true,
  supportsDataBreakpoints: true,
  supportsStepBack: true,
  supportsEvaluateForHovers: true,
  supportsClipboardContext: true,
  supportsBreakpointLocationsRequest: true,
  supportsExceptionInfoRequest: true,
  supportsDelayedStackTraceLoading: true,
  supportsLoadedSourcesRequest: true,
  supportsStepInTargetsRequest: true,
  supportsCompletionsRequest: true,
  completionTriggerCharacters: ['.', '['],
  supportsRestartRequest: true,
  supportsRestartFrame: true,
  supportsTerminateRequest: true,
  supportsCancelRequest: true,
  supportsExceptionFilterOptions: true,
  exceptionBreakpointFilters,
};

/** What the adapter can do for a client. */
export function capabilitiesFor({ showsStyling, takesStacksInParts }: Client): DebugProtocol.Capabilities {
  return {
    ...always,
    ...(takesStacksInParts ? {} : { supportsDelayedStackTraceLoading: false }),
    ...(showsStyling ? { supportsANSIStyling: true } : {}),
  };
}
