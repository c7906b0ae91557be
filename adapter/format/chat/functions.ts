import type { CodeUnit } from '../../python/codeUnits';
import type { PythonSource } from '../../python/source';

const moduleNames: ReadonlySet<string> = new Set([
  '<module>',
  'module',
  '__main__',
  'global',
  'globals',
  'main module',
  'top level',
  'toplevel',
  'script',
]);

/** The functions of a source, as a model may name them. */
export class Functions {
  readonly #byName = new Map<string, CodeUnit[]>();

  constructor(source: PythonSource) {
    for (const unit of source.units) {
      const units = this.#byName.get(unit.name);
      if (units) units.push(unit);
      else this.#byName.set(unit.name, [unit]);
    }
  }

  /** The code objects of a name, in the order of the source. */
  named(name: string): readonly CodeUnit[] {
    return this.#byName.get(name) ?? [];
  }

  /** The name that code has, from how a model names it: qualified, without its angle brackets, or in words. */
  resolve(given: string): string {
    if (this.#byName.has(given)) return given;
    const last = given.slice(given.lastIndexOf('.') + 1);
    const found = [last, `<${given}>`, `<${last}>`].find((name) => this.#byName.has(name));
    if (found !== undefined) return found;
    return moduleNames.has(given.toLowerCase()) ? '<module>' : given;
  }

  /**
   * The name of what a call enters. Calling a class enters its `__init__`; the class's own code runs only
   * where the class is defined.
   *
   * @param callLine where the caller stands
   */
  entered(name: string, callLine: number | null): string {
    const units = this.named(name);
    const [unit] = units;
    if (unit?.kind !== 'class' || units.length > 1) return name;
    if (callLine !== null && callLine >= unit.callLine && callLine <= unit.headerLine) return name;
    return this.named('__init__').some(({ parent }) => parent === unit) ? '__init__' : name;
  }

  /**
   * The line of a call event: models often give the line of the call or of `def` below its decorators.
   *
   * @returns the line, and whether other functions of the name may be meant
   */
  callLine(name: string, line: number | null): { readonly line: number; readonly isSure: boolean } | null {
    const units = this.named(name);
    const [first] = units;
    if (!first) return null;
    const exact = units.find(
      (unit) => unit.callLine === line || (line !== null && unit.isGenerator && unit.lines.has(line)),
    );
    if (exact) return { line: line ?? exact.callLine, isSure: true };
    const near = units.find((unit) => line !== null && line >= unit.firstLine && line <= unit.lastLine);
    return { line: (near ?? first).callLine, isSure: near !== undefined || units.length === 1 };
  }

  /** Whether a function has a local of a name, as far as its code says. */
  hasLocal(functionName: string, local: string): boolean {
    const units = this.named(functionName);
    return units.length === 0 || units.some(({ names }) => names.has(local));
  }

  /** Why a function's line event cannot be on a line, as a sentence, or null. */
  lineDoubt(
    name: string,
    line: number,
    before: { readonly line: number; readonly event: string },
  ): string | null {
    const units = this.named(name);
    if (units.length === 0) return null;
    const here = units.filter(({ lines }) => lines.has(line));
    if (here.length === 0) return `${name} has no statement that begins on line ${line}.`;
    const from = here.filter(({ lines, callLine }) =>
      before.event === 'call' ? callLine === before.line : lines.has(before.line),
    );
    const isReached = (unit: CodeUnit) =>
      before.event === 'call' ? unit.entryLines.includes(line) : unit.successors(before.line).includes(line);
    if (from.length === 0 || from.some(isReached)) return null;
    return before.event === 'call'
      ? `${name} does not begin on line ${line}.`
      : `Control cannot go from line ${before.line} to line ${line}.`;
  }

  /** Why a function's return event cannot be on a line, as a sentence, or null. */
  returnDoubt(name: string, line: number): string | null {
    const units = this.named(name);
    if (units.length === 0 || units.some((unit) => unit.canLeaveFrom(line))) return null;
    return `${name} cannot be left from line ${line}.`;
  }
}
