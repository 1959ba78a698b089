import { readFactSet } from './diff/fact-set.ts';
import { report } from './diff/report.ts';
import { readUpstreamPaths } from './upstream-paths.ts';
import { readSources } from './diff/concerns.ts';

/*
 * npm run facts:diff -- facts/v1.36 facts/v1.37
 *
 * Prints, as Markdown, what changed between two sets of facts, and which files of ours each change concerns.
 */

const [before, after] = process.argv.slice(2);
if (before === undefined || after === undefined) throw new Error('usage: npm run facts:diff -- facts/v1.36 facts/v1.37');
process.stdout.write(report(readFactSet(before), readFactSet(after), { paths: readUpstreamPaths(), sources: readSources() }));
