import * as vscode from 'vscode';
import { connectServer, setApiKey } from './commands/connectServer';
import { askEntryCall, debugCall, debugFile } from './commands/debugFile';
import { askCallAtCursor, debugFunction } from './commands/debugFunction';
import { debugRecording } from './commands/debugRecording';
import { ServerActions } from './commands/serverActions';
import { SessionCommands } from './commands/sessionCommands';
import { AdapterFactory } from './debug/adapterFactory';
import { ConfigurationProvider } from './debug/configurationProvider';
import { debugType } from './debug/debugType';
import { EditedPrograms } from './debug/editedProgram';
import { registerEvaluatableExpressions } from './debug/evaluatableExpressions';
import { Failures } from './debug/failures';
import { HealthFollower } from './debug/healthFollower';
import { registerInlineValues } from './debug/inlineValues';
import { StopFollower } from './debug/stopFollower';
import { LogTracker } from './debug/tracker';
import { whileActive } from './debug/whileActive';
import { LanguageFeatures } from './languageClient/languageFeatures';
import { TrajectoryTracker } from './languageClient/trajectoryTracker';
import { WhileDebugging } from './languageClient/whileDebugging';
import { ApiKeys } from './servers/apiKeys';
import { Consent } from './servers/consent';
import { RealRuns } from './servers/realRuns';
import { SessionStatus } from './views/sessionStatus';
import { StateTree } from './views/stateTree';
import { followConnection } from './walkthrough';

/**
 * Makes all that the extension has and registers it.
 *
 * @returns what completes launch configurations, which is registered already
 */
export function wire(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
): vscode.DebugConfigurationProvider {
  const keys = new ApiKeys(context.secrets);
  const configurations = new ConfigurationProvider(keys, new Consent(context.globalState));
  const realRuns = new RealRuns(context.workspaceState);
  const debugging = new WhileDebugging();
  const features = new LanguageFeatures(context, log, debugging);
  const adapters = new AdapterFactory(keys);
  const tree = new StateTree();
  const status = new SessionStatus();
  const failures = new Failures(keys);
  const edited = new EditedPrograms();
  context.subscriptions.push(
    features,
    debugging,
    vscode.debug.registerDebugAdapterTrackerFactory(debugType, debugging),
    vscode.debug.registerDebugAdapterDescriptorFactory(debugType, adapters),
    vscode.debug.registerDebugAdapterTrackerFactory(debugType, new LogTracker(log)),
    vscode.debug.registerDebugAdapterTrackerFactory(debugType, new TrajectoryTracker(features, adapters)),
    vscode.debug.registerDebugAdapterTrackerFactory(debugType, new StopFollower(tree, status, edited)),
    vscode.debug.registerDebugAdapterTrackerFactory(debugType, new HealthFollower(status, failures, log)),
    tree.register(),
    status,
    new SessionCommands(tree, realRuns).register(),
    edited,
    followConnection(),
    whileActive(() => registerEvaluatableExpressions(edited)),
    whileActive(() => registerInlineValues(edited)),
    vscode.commands.registerCommand('neuralDebug.debugFile', debugFile),
    vscode.commands.registerCommand('neuralDebug.debugCall', debugCall),
    vscode.commands.registerCommand('neuralDebug.debugFunction', (uri: unknown, name: unknown) =>
      debugFunction({ features, keys }, uri, name),
    ),
    vscode.commands.registerCommand('neuralDebug.debugRecording', (uri: unknown) =>
      debugRecording(features, context.globalStorageUri, uri),
    ),
    vscode.commands.registerCommand('neuralDebug.askEntryCall', askEntryCall),
    vscode.commands.registerCommand('neuralDebug.askCallAtCursor', () => askCallAtCursor({ features, keys })),
    vscode.commands.registerCommand('neuralDebug.connectServer', () => connectServer(keys)),
    vscode.commands.registerCommand('neuralDebug.setApiKey', () => setApiKey(keys)),
    vscode.commands.registerCommand(
      'neuralDebug.guessInput',
      async (uri?: vscode.Uri | string, name?: string) => {
        // Loaded when it is first wanted, so that the editor's start does not wait for it.
        const { GuessInput } = await import('./commands/guessInput');
        // A lens gives the URI as text.
        const file = typeof uri === 'string' ? vscode.Uri.parse(uri, true) : uri;
        await new GuessInput(keys, realRuns).run(file, name);
      },
    ),
    vscode.commands.registerCommand('neuralDebug.showStatus', () =>
      new ServerActions(status, failures, keys).choose(),
    ),
    vscode.commands.registerCommand('neuralDebug.showLog', () => {
      log.show();
    }),
  );
  return configurations;
}
