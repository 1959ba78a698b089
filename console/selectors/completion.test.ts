import { describe, expect, test } from 'vitest';
import { completeSelector, labelVocabulary } from './completion.ts';

const vocabulary = labelVocabulary([
  { labels: { app: 'web', tier: 'front' } },
  { labels: { app: 'db', 'app.kubernetes.io/name': 'x' } },
  { labels: undefined },
]);
const textsFor = (text: string): string[] => completeSelector(text, vocabulary).map((completion) => completion.text);

describe('a label selector goes on', () => {
  test.each([
    ['', ['app=', 'app.kubernetes.io/name=', 'tier=']],
    ['ti', ['tier=']],
    ['app=', ['app=db', 'app=web']],
    ['app!=w', ['app!=web']],
    ['app==d', ['app==db']],
    ['tier=front,app=w', ['tier=front,app=web']],
    ['tier=front, !a', ['tier=front, !app', 'tier=front, !app.kubernetes.io/name']],
    ['app in (', ['app in (db', 'app in (web']],
    ['app in (db, w', ['app in (db, web']],
    ['app in (db,web),ti', ['app in (db,web),tier=']],
    ['app=web', []],
    ['nothing=x', []],
  ])('%s', (text, expected) => {
    expect(textsFor(text)).toEqual(expected);
  });
});
