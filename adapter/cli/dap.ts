import { newToken, tellsUsers } from '../dap/peer';
import { serveOnPort, serveOnStandardStreams } from '../dap/server';
import { describeCause, errors } from '../errors';
import { adapterKey, environment } from './keys';

/** The options of `dap`. */
export interface DapOptions {
  readonly port?: number;
  readonly token?: boolean;
}

/** Serves the Debug Adapter Protocol: one session on standard streams, or sessions on a port. */
export async function dap({ port, token: wantsToken }: DapOptions): Promise<void> {
  const keyFor = adapterKey();
  if (port === undefined) {
    await serveOnStandardStreams({ keyFor });
    return;
  }
  const given = process.env[environment.dapToken] || null;
  // Where the system does not say who connects, somebody else's process could.
  const token = given ?? (wantsToken || !tellsUsers() ? newToken() : null);
  const server = await serveOnPort(port, { keyFor, token }).catch((thrown: unknown) => {
    throw errors.adapterPort(port, describeCause(thrown));
  });
  const address = server.address();
  if (typeof address === 'object' && address) process.stdout.write(`127.0.0.1:${address.port}\n`);
  if (token !== null && given === null) process.stdout.write(`${token}\n`);
  process.stderr.write(
    'Whoever starts a session here can have files of yours read and sent to a server, and programs really run, ' +
      `with your rights. ${token === null ? 'Only processes of your user can connect.' : 'It takes the token, as "token" of the launch arguments.'}\n`,
  );
  await new Promise((closed) => server.once('close', closed));
}
