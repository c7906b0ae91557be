// The smallest debugger that stops: always in line 1 of its program, with one variable.
import * as vscode from 'vscode';

export function activate(context) {
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory('other-python', {
      createDebugAdapterDescriptor: () => new vscode.DebugAdapterInlineImplementation(new OtherAdapter()),
    }),
  );
}

class OtherAdapter {
  #messages = new vscode.EventEmitter();
  onDidSendMessage = this.#messages.event;
  #seq = 1;
  #program = '';

  handleMessage({ seq, command, arguments: args }) {
    const body = this.#answer(command, args);
    this.#send({ type: 'response', request_seq: seq, command, success: true, body });
    if (command === 'launch') this.#event('initialized');
    if (command === 'configurationDone') this.#event('stopped', { reason: 'entry', threadId: 1 });
    if (command === 'continue' || command === 'disconnect') this.#event('terminated');
  }

  #answer(command, args) {
    switch (command) {
      case 'initialize':
        return { supportsConfigurationDoneRequest: true, supportsEvaluateForHovers: true };
      case 'launch':
        this.#program = args.program;
        return {};
      case 'setBreakpoints':
        return { breakpoints: args.breakpoints.map(() => ({ verified: true })) };
      case 'threads':
        return { threads: [{ id: 1, name: 'other thread' }] };
      case 'stackTrace':
        return {
          stackFrames: [{ id: 1, name: 'other frame', line: 1, column: 1, source: { path: this.#program } }],
          totalFrames: 1,
        };
      case 'scopes':
        return { scopes: [{ name: 'Other', variablesReference: 1, expensive: false }] };
      case 'variables':
        return {
          variables: [{ name: 'other', value: '"theirs"', variablesReference: 0, evaluateName: 'other' }],
        };
      case 'evaluate':
        return { result: `theirs: ${args.expression}`, variablesReference: 0 };
      default:
        return {};
    }
  }

  #event(event, body) {
    this.#send({ type: 'event', event, body });
  }

  #send(message) {
    this.#messages.fire({ seq: this.#seq++, ...message });
  }

  dispose() {
    this.#messages.dispose();
  }
}
