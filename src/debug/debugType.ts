/** The type of our debug sessions and launch configurations. */
export const debugType = 'neural-debug';
