import { startModelServer } from '../adapter/modelServer/server';

/* Our model server in a process of its own, so that its memory is not counted as the adapter's. */

const { url, token } = await startModelServer({ port: 0 });
process.send?.({ url, token });
