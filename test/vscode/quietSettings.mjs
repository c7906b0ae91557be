/** Settings of a VS Code that asks, fetches and shows nothing by itself. */
export const quietSettings = {
  'workbench.startupEditor': 'none',
  'telemetry.telemetryLevel': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'workbench.enableExperiments': false,
  'workbench.tips.enabled': false,
  'chat.disableAIFeatures': true,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'window.commandCenter': false,
  'git.enabled': false,
  'terminal.integrated.gpuAcceleration': 'off',
  'editor.minimap.enabled': false,
  'files.hotExit': 'off',
};
