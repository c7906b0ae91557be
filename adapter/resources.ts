import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * The path of a file that is read at run time: beside the bundle when bundled, else where the sources or the
 * installed packages have it.
 *
 * @param name the file's name in `dist/`
 * @param source where it lies otherwise: a URL relative to this module (`./python/tracer.py`) or the path of a
 *   file in a package (`web-tree-sitter/web-tree-sitter.wasm`)
 */
export function resourcePath(name: string, source: string): string {
  const bundled = fileURLToPath(new URL(`./${name}`, import.meta.url));
  if (existsSync(bundled)) return bundled;
  if (source.startsWith('.')) return fileURLToPath(new URL(source, import.meta.url));
  return createRequire(import.meta.url).resolve(source);
}
