/** The lines that two texts differ in, those of the first after `- `, those of the second after `+ `, in order. */
export function lineDiff(before: readonly string[], after: readonly string[]): string[] {
  // The longest common subsequence of what is left of both, by where what is left begins.
  const common = before.map(() => new Array<number>(after.length + 1).fill(0));
  const at = (row: number, column: number) => common[row]?.[column] ?? 0;
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = after.length - 1; column >= 0; column--) {
      const length =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
      (common[row] ?? [])[column] = length;
    }
  }
  const differing: string[] = [];
  let row = 0;
  let column = 0;
  while (row < before.length || column < after.length) {
    if (row < before.length && column < after.length && before[row] === after[column]) {
      row++;
      column++;
    } else if (
      column >= after.length ||
      (row < before.length && at(row + 1, column) >= at(row, column + 1))
    ) {
      differing.push(`- ${before[row++]}`);
    } else {
      differing.push(`+ ${after[column++]}`);
    }
  }
  return differing;
}
