// npm run release: checks that a release can be made, shows what it would hold, and prints the commands that make it. Nothing is published or tagged.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const run = (command, ...parameters) => execFileSync(command, parameters, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();

const problems = [];
if (run('git', 'status', '--porcelain') !== '') problems.push('the working tree has changes: commit or discard them');
if (run('git', 'branch', '--show-current') !== 'main') problems.push('releases are made from main: git switch main');
if (run('git', 'tag', '--list', `v${version}`) !== '') problems.push(`v${version} is released already: npm version <patch|minor|major> --no-git-tag-version`);
const changelog = readFileSync('CHANGELOG.md', 'utf8');
if (!changelog.includes(`\n## ${version}\n`)) problems.push(`CHANGELOG.md has no section "## ${version}": rename "Unreleased"`);

const [{ files, size, unpackedSize }] = JSON.parse(run('npm', 'pack', '--dry-run', '--json', '--silent').replace(/^[^[]*/, ''));
const kibibytes = (bytes) => `${Math.round(bytes / 1024)} KiB`;
console.log(`${name} ${version}: ${files.length} files, ${kibibytes(size)} packed, ${kibibytes(unpackedSize)} unpacked`);
for (const file of files.toSorted((a, b) => b.size - a.size).slice(0, 10)) console.log(`  ${kibibytes(file.size).padStart(10)}  ${file.path}`);

for (const problem of problems) console.error(`error: ${problem}`);
if (problems.length > 0) process.exit(1);
console.log(`\nReady. To release, after .ci/run:\n\n  git tag -s v${version} -m v${version}\n  npm publish --provenance\n  git push origin main v${version}`);
