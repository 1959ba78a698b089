import { stringifyJson } from '../../src/encoding/json.ts';
import { type DuplicateKeys, InputTooLarge } from '../../src/encoding/json-parser.ts';
import { YamlError, parseYaml, parseYamlInSlices, toYaml } from '../../src/encoding/yaml.ts';
import { repeatedKeys } from '../../src/encoding/yaml-duplicates.ts';
import { type FuzzTarget, mustAgree } from '../target.ts';
import { pod } from './objects.ts';

/** A client's text. What is read, written as YAML, and read again is the same. */
export const yaml: FuzzTarget = {
  name: 'yaml',
  isSliced: true,
  seeds: () => [
    toYaml(pod()),
    'a: &x {b: [1, 2]}\nc: *x\n<<: *x\nd: !!binary aGk=\n',
    "- yes\n- 0777\n- 1_000\n- 2001-01-01\n- ~\n- \"\\u00e9\"\n- 'it''s'\n",
    'a: |\n  text\n  more\nb: >-\n  folded\n\n  text\n? complex\n: value\n',
    '--- # comment\na: 1\na: 2\n...\n---\nb: 2\n',
    '{"a": [1, {"b": null}]}',
  ],
  tokens: [
    '- ',
    ': ',
    '? ',
    '&a ',
    '*a',
    '<<: ',
    '|\n',
    '>\n',
    '"',
    "'",
    '{',
    '}',
    '[',
    ']',
    ',',
    '\n',
    '\n  ',
    '# ',
    '---\n',
    '...\n',
    '!!str ',
    '!x ',
    '\t',
    '%YAML 1.1\n',
    '~',
    '@',
    '`',
    '\\x',
    '\r',
  ],
  refusals: [YamlError, InputTooLarge],
  async run(input) {
    const text = input.toString();
    const duplicates: DuplicateKeys = new Map();
    const value = await parseYamlInSlices(text, duplicates);
    if (duplicates.size > 0) await repeatedKeys(text);
    return () => mustAgree('written and read again', stringifyJson(parseYaml(toYaml(value))), stringifyJson(value));
  },
};
