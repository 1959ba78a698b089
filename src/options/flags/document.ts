import { gateGroups } from '../feature-gate-facts.ts';
import type { AnyFlag, FlagSet } from './flag.ts';
import { flagSets } from './options.ts';

/** docs/flags.md: every flag with its state, and every feature gate. */
export const flagsDocument = (): string => `# Flags of \`binnacle serve\`

Every flag of kube-apiserver v1.36 is accepted, with its syntax and default. What each does here:

- **works**: what it does upstream.
- **no effect**: accepted, with one warning line; there is nothing here for it to change.

With the embedded and memory stores nothing has to be given: a self-signed certificate, the key of service account tokens and its issuer are
made where they are missing, and kept in \`--data-dir\`. \`binnacle up\` takes the same flags. This page is made from the tables in
\`src/options/flags/\`; a test keeps it so (\`npx vitest run src/options/flags/document.test.ts -u\` writes it anew).
${flagSets.map(section).join('')}
## Feature gates

\`--feature-gates\` knows these; a locked one cannot be moved. What moving the others does here is told in [feature-gates.md](feature-gates.md).

| stage | default | gates |
| --- | --- | --- |
${gateGroups.map(({ stage, isOnByDefault, isLocked, names }) => `| ${stage} | ${isOnByDefault ? 'on' : 'off'}${isLocked ? ', locked' : ''} | ${names.join(', ')} |`).join('\n')}
`;

const section = ({ title, flags }: FlagSet): string => `
## ${title.charAt(0).toUpperCase()}${title.slice(1)}

| flag | value | default | state | what it is for |
| --- | --- | --- | --- | --- |
${Object.entries(flags)
  .map(([name, flag]) => `| ${row(name, flag).join(' | ')} |`)
  .join('\n')}
`;

function row(name: string, flag: AnyFlag): string[] {
  const shownDefault = flag.type.format(flag.default);
  const isZero = shownDefault === flag.type.format(flag.type.zero);
  const [summary] = flag.help.split('\n');
  return [
    `\`--${name}\``,
    flag.type.label || 'bool',
    isZero ? '' : `\`${shownDefault}\``,
    stateText(flag),
    cell(summary! + (flag.deprecated === undefined ? '' : ` Deprecated: ${flag.deprecated}`)),
  ];
}

const stateText = ({ state }: AnyFlag): string => (state.is === 'noEffect' ? `no effect: ${state.reason}` : 'works');

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
