import type { SyntaxNode } from './syntaxTree';

/** What the compiler knows about an expression that it folds into a constant. */
export interface Constant {
  readonly type: 'int' | 'float' | 'complex' | 'bool' | 'str' | 'bytes' | 'none' | 'ellipsis' | 'tuple';
  /** The truth value. */
  readonly truth: boolean;
  /** The value of an int or a bool. */
  readonly integer: bigint | null;
}

/** CPython folds `**` and `<<` only up to this many bits, and repetitions up to this many items. */
const MAX_INT_BITS = 128;
const MAX_STRING = 4096;
const MAX_TUPLE = 256;
/** What nests deeper is no constant to us. */
const MAX_DEPTH = 200;
const NUMBERS: ReadonlySet<Constant['type']> = new Set(['int', 'float', 'complex', 'bool']);

/** The expression inside any number of parentheses. */
export function unwrap(node: SyntaxNode): SyntaxNode {
  let inner = node;
  while (inner.type === 'parenthesized_expression') {
    const next = inner.children.find((child) => child.named);
    if (next === undefined) break;
    inner = next;
  }
  return inner;
}

/** The target inside any number of parentheses, which the grammar takes for a tuple of one. */
export function unwrapTarget(node: SyntaxNode): SyntaxNode {
  let inner = unwrap(node);
  while (inner.type === 'tuple_pattern' && inner.parts.length === 1 && !inner.has(',')) {
    const [only] = inner.parts;
    if (only === undefined) break;
    inner = unwrap(only);
  }
  return inner;
}

function isTextPrefix(text: string, letter: string): boolean {
  return text.slice(0, text.search(/['"]/)).toLowerCase().includes(letter);
}

/**
 * Constant folding as CPython 3.11 does it, as far as it decides which lines hold instructions.
 */
export class Constants {
  private depth = 0;
  private readonly known = new Map<SyntaxNode, Constant | null>();

  constructor(private readonly text: string) {}

  /** The constant that an expression is folded into, or null. */
  of(wrapped: SyntaxNode): Constant | null {
    const node = unwrap(wrapped);
    const known = this.known.get(node);
    if (known !== undefined) return known;
    // The left operands of a long sum nest deeper than the stack: innermost first.
    const spine: SyntaxNode[] = [];
    for (
      let operand: SyntaxNode | null = node;
      operand !== null && operand.type === 'binary_operator' && !this.known.has(operand);
      operand = this.leftOf(operand)
    ) {
      spine.push(operand);
    }
    if (this.depth > MAX_DEPTH) return null;
    this.depth++;
    for (const operand of spine.reverse()) this.known.set(operand, this.fold(operand));
    const folded = this.known.get(node) ?? this.fold(node);
    this.depth--;
    this.known.set(node, folded);
    return folded;
  }

  private leftOf(node: SyntaxNode): SyntaxNode | null {
    const left = node.child('left');
    return left === null ? null : unwrap(left);
  }

  private slice(node: SyntaxNode): string {
    return this.text.slice(node.start, node.end);
  }

  private fold(node: SyntaxNode): Constant | null {
    switch (node.type) {
      case 'integer':
        return this.integer(node);
      case 'float': {
        const digits = this.slice(node).replaceAll('_', '');
        const complex = /j$/i.test(digits);
        const truth = Number.parseFloat(digits) !== 0;
        return { type: complex ? 'complex' : 'float', truth, integer: null };
      }
      case 'true':
        return { type: 'bool', truth: true, integer: 1n };
      case 'false':
        return { type: 'bool', truth: false, integer: 0n };
      case 'none':
        return { type: 'none', truth: false, integer: null };
      case 'ellipsis':
        return { type: 'ellipsis', truth: true, integer: null };
      case 'identifier':
        return this.slice(node) === '__debug__' ? { type: 'bool', truth: true, integer: 1n } : null;
      case 'string':
      case 'concatenated_string':
        return this.string(node);
      case 'tuple': {
        const items = node.parts;
        if (items.some((item) => this.of(item) === null)) return null;
        return { type: 'tuple', truth: items.length > 0, integer: null };
      }
      case 'unary_operator':
        return this.unary(node);
      case 'not_operator': {
        const argument = node.child('argument');
        const value = argument === null ? null : this.of(argument);
        return value === null ? null : { type: 'bool', truth: !value.truth, integer: value.truth ? 0n : 1n };
      }
      case 'binary_operator':
        return this.binary(node);
      default:
        return null;
    }
  }

  private integer(node: SyntaxNode): Constant {
    const digits = this.slice(node).replaceAll('_', '').toLowerCase();
    if (digits.endsWith('j')) return { type: 'complex', truth: /[1-9]/.test(digits), integer: null };
    // A literal of many digits is worth no conversion: only its being non-zero matters.
    if (digits.length > 100) return { type: 'int', truth: /[1-9a-f]/.test(digits.slice(2)), integer: null };
    const decimal = /^0+\d*$/.test(digits) ? digits.replace(/^0+(?=\d)/, '') : digits;
    const value = /^(0x[\da-f]+|0o[0-7]+|0b[01]+|\d+)$/.test(decimal) ? BigInt(decimal) : null;
    return { type: 'int', truth: value !== 0n, integer: value };
  }

  private string(node: SyntaxNode): Constant | null {
    const strings = node.type === 'string' ? [node] : node.parts;
    if (strings.some((part) => isTextPrefix(this.slice(part), 'f'))) return null;
    const bytes = strings.some((part) => isTextPrefix(this.slice(part), 'b'));
    const truth = strings.some((part) => part.has('string_content'));
    return { type: bytes ? 'bytes' : 'str', truth, integer: null };
  }

  private unary(node: SyntaxNode): Constant | null {
    const argument = node.child('argument');
    const value = argument === null ? null : this.of(argument);
    if (value === null || !NUMBERS.has(value.type)) return null;
    const operator = node.child('operator')?.type;
    if (operator !== '~') {
      const integer = value.integer !== null && operator === '-' ? -value.integer : value.integer;
      return { type: value.type === 'bool' ? 'int' : value.type, truth: value.truth, integer };
    }
    if (value.integer === null) return null;
    return { type: 'int', truth: ~value.integer !== 0n, integer: ~value.integer };
  }

  private binary(node: SyntaxNode): Constant | null {
    const leftNode = node.child('left');
    const rightNode = node.child('right');
    if (leftNode === null || rightNode === null) return null;
    const left = this.of(leftNode);
    const right = left === null ? null : this.of(rightNode);
    if (left === null || right === null) return null;
    const operator = node.child('operator')?.type ?? '';
    if (left.integer !== null && right.integer !== null) {
      return foldIntegers(operator, left.integer, right.integer);
    }
    if (NUMBERS.has(left.type) && NUMBERS.has(right.type)) {
      if (!['+', '-', '*', '/', '//', '%', '**'].includes(operator)) return null;
      if (['/', '//', '%'].includes(operator) && !right.truth) return null;
      if (operator === '**' && !left.truth) return null;
      const type = left.type === 'complex' || right.type === 'complex' ? 'complex' : 'float';
      return { type, truth: true, integer: null };
    }
    const sequence = left.type === 'str' || left.type === 'bytes' || left.type === 'tuple';
    if (sequence && operator === '+' && left.type === right.type) {
      return { type: left.type, truth: left.truth || right.truth, integer: null };
    }
    if (operator !== '*') return null;
    if (sequence && right.integer !== null) return repeated(left, leftNode, right.integer);
    return left.integer === null ? null : repeated(right, rightNode, left.integer);
  }
}

/** A string or a tuple times a number; large ones are not folded. */
function repeated(sequence: Constant, wrapped: SyntaxNode, times: bigint): Constant | null {
  const node = unwrap(wrapped);
  const isTuple = sequence.type === 'tuple';
  if (isTuple && node.type !== 'tuple') return null;
  const length = BigInt(isTuple ? node.parts.length : node.end - node.start);
  if (times * length > (isTuple ? MAX_TUPLE : MAX_STRING)) return null;
  return { type: sequence.type, truth: sequence.truth && times > 0n, integer: null };
}

function foldIntegers(operator: string, left: bigint, right: bigint): Constant | null {
  const int = (integer: bigint): Constant => ({ type: 'int', truth: integer !== 0n, integer });
  const bits = (value: bigint) => (value < 0n ? -value : value).toString(2).length;
  switch (operator) {
    case '+':
      return int(left + right);
    case '-':
      return int(left - right);
    case '*':
      return left !== 0n && right !== 0n && bits(left) + bits(right) > MAX_INT_BITS
        ? null
        : int(left * right);
    case '/':
      return right === 0n ? null : { type: 'float', truth: left !== 0n, integer: null };
    case '//':
    case '%': {
      if (right === 0n) return null;
      const remainder = ((left % right) + right) % right;
      return int(operator === '%' ? remainder : (left - remainder) / right);
    }
    case '**':
      if (right < 0n) return left === 0n ? null : { type: 'float', truth: true, integer: null };
      return BigInt(bits(left)) * right > MAX_INT_BITS ? null : int(left ** right);
    case '<<':
      return right < 0n || right > MAX_INT_BITS || BigInt(bits(left)) + right > MAX_INT_BITS
        ? null
        : int(left << right);
    case '>>':
      return right < 0n ? null : int(left >> right);
    case '&':
      return int(left & right);
    case '|':
      return int(left | right);
    case '^':
      return int(left ^ right);
    default:
      return null;
  }
}
