import type { IncomingMessage } from 'node:http';
import { errors } from '../errors';
import { Refusal } from './refusal';

/**
 * Reads the JSON body of a request.
 *
 * @param maxBytes the longest body that is taken
 * @throws Refusal for another content type, a body that is too long or is not JSON
 */
export async function readJsonBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const type = request.headers['content-type'] ?? '';
  const [mediaType, ...parameters] = type.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (mediaType !== 'application/json' || (charset ?? 'utf-8').replaceAll('"', '') !== 'utf-8') {
    throw unreadable(415, 'unsupported_media_type', 'The request body is not announced as JSON in UTF-8.');
  }
  if (request.headers['content-encoding'] !== undefined) {
    throw unreadable(415, 'unsupported_media_type', 'The request body is compressed.');
  }
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLong(maxBytes);
  const chunks: Buffer[] = [];
  let length = 0;
  // A request that is destroyed takes the connection with it, and so the answer that says why.
  const body = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw tooLong(maxBytes);
    chunks.push(chunk);
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
    return JSON.parse(text) as unknown;
  } catch {
    throw unreadable(400, 'invalid_json', 'The request body is not JSON.');
  }
}

function unreadable(status: number, code: string, what: string): Refusal {
  return new Refusal(
    status,
    code,
    errors.requestBody(what, 'Send plain JSON with Content-Type: application/json.'),
  );
}

function tooLong(maxBytes: number): Refusal {
  const error = errors.requestBody(
    `The request body is longer than ${maxBytes} bytes.`,
    'Send a shorter prompt, or start the server with a higher limit.',
  );
  return new Refusal(413, 'request_too_large', error);
}
