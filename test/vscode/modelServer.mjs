// A server that only counts what it is asked; the one that answers is the stand-in of `npm start`.
import { createServer } from 'node:http';

export { startStandIn as startModelServer } from '../../scripts/standIn.mjs';

/** Settings that name the project's model server, and its key where the extension looks for it. */
export const connected = ({ modelServer }) => ({
  machineSettings: {
    'neuralDebug.server.baseUrl': modelServer.baseUrl,
    'neuralDebug.server.format': 'cwm',
  },
  environment: { NEURAL_DEBUG_API_KEY: modelServer.token },
});

/** A server that answers nothing but 404, and keeps what it was sent. */
export async function startCountingServer() {
  const requests = [];
  const server = createServer((request, response) => {
    requests.push({ url: request.url, authorization: request.headers.authorization ?? null });
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"not here"}}');
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    origin,
    baseUrl: `${origin}/v1`,
    requests,
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
