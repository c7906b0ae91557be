import type { DebugProtocol } from '@vscode/debugprotocol';
import { exceptionBreakpointFilters } from './exceptionFilters';

/** What the adapter can do, whatever the world. */
export const capabilities: DebugProtocol.Capabilities = {
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
