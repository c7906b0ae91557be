import type { ControlText } from '../../completion/completion';
import { breakControlText, controlTokens, mendControlText, startMarker } from './tokens';
import { writeFrame } from './writer';

const header = 'def main():';
const call = { event: 'call', locals: new Map(), line: `${header}\n`, argument: null } as const;

/** The control tokens of the format, for those who send prompts and read answers. */
export const cwmControlText: ControlText = {
  tokens: Object.values(controlTokens),
  begin: controlTokens.beginOfText,
  example:
    `${controlTokens.beginOfText}${controlTokens.contextStart}${header}${startMarker}\n    return 1\n` +
    controlTokens.frameEnd +
    writeFrame(call, null),
  escape: breakControlText,
  unescape: mendControlText,
};
