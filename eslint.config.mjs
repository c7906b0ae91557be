import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/**
 * The rooms of the house, from the top down. A file may import only from its own room and from rooms of
 * lower floors; rooms on one floor do not know each other.
 */
const floors = [
  ['src'],
  ['adapter/cli', 'adapter/dap', 'adapter/lsp', 'adapter/modelServer'],
  ['adapter/inputs', 'adapter/evaluation'],
  ['adapter/debugger'],
  ['adapter/world'],
  ['adapter/format'],
  ['adapter/completion'],
  ['adapter/python'],
  ['adapter/sandbox'],
  ['adapter/trajectory'],
];

/** The command line opens the other doors, so it alone may import them. */
const opensDoors = 'adapter/cli';

function roomRules() {
  return floors.flatMap((rooms, floor) =>
    rooms.map((room) => {
      const above = floors.slice(0, floor).flat();
      const beside = room === opensDoors ? [] : rooms.filter((other) => other !== room);
      const patterns = [...above, ...beside].map((other) => ({
        regex: `^(\\.\\./)+${other.replace('adapter/', '(adapter/)?')}(/|$)`,
        message: `${room} may not import from ${other}: see "The house" in ARCHITECTURE.md.`,
      }));
      if (room !== 'src') patterns.push({ regex: '^vscode$', message: 'Only src/ may import vscode.' });
      return {
        files: [`${room}/**/*.ts`],
        rules: { 'no-restricted-imports': ['error', { patterns }] },
      };
    }),
  );
}

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'node_modules/',
      '.vscode-server/',
      '.vscode-test/',
      'test-results/',
      'test/vscode/**/node_modules/',
    ],
  },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['eslint.config.mjs', 'esbuild.mjs'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      eqeqeq: 'error',
      'no-console': 'error',
    },
  },
  { files: ['**/*.mjs', 'scripts/**'], ...tseslint.configs.disableTypeChecked },
  {
    files: ['**/*.mjs', 'scripts/**'],
    languageOptions: {
      globals: { console: 'readonly', process: 'readonly', URL: 'readonly', WebAssembly: 'writable' },
    },
    rules: { 'no-console': 'off' },
  },
  { files: ['bench/**'], rules: { 'no-console': 'off' } },
  ...roomRules(),
);
