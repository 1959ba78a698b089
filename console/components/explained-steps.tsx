import type { PolicyRule } from '../api/status.ts';
import { valueText } from '../history/change.ts';
import { type ExplainedStep, STEP_WORDS } from '../server/explanation.ts';
import { formatMs } from '../server/series.ts';
import { RuleText } from './refused.tsx';

interface ExplainedStepsProps {
  steps: readonly ExplainedStep[];
}

const MARKS: Readonly<Record<ExplainedStep['result'], string>> = { allowed: '✓', passed: '✓', changed: '✎', skipped: '–', denied: '✗', failed: '✗' };

/** The steps in their order; those of admission, plug-in by plug-in. */
export function ExplainedSteps({ steps }: ExplainedStepsProps) {
  return (
    <ol class="steps">
      {steps.map((step, index) => (
        <Step key={index} step={step} isFirst={steps[index - 1]?.name !== step.name} />
      ))}
    </ol>
  );
}

function Step({ step, isFirst }: { step: ExplainedStep; isFirst: boolean }) {
  const { name, plugin, result, message, details, changes = [], durationMs } = step;
  const { rule, missingRule, ...others } = details ?? {};
  return (
    <li class={`step ${result}`}>
      {isFirst && (
        <h2>
          {name} <span class="muted">{STEP_WORDS[name]}</span>
        </h2>
      )}
      <p>
        <span class="mark" aria-hidden="true">
          {MARKS[result]}
        </span>
        {plugin !== undefined && <strong>{plugin} </strong>}
        {result} <span class="muted">{formatMs(durationMs)}</span>
      </p>
      {message !== undefined && message !== '' && <p class="step-message">{message}</p>}
      {Object.keys(others).length > 0 && (
        <dl class="facts">
          {Object.entries(others).map(([key, value]) => (
            <div key={key}>
              <dt>{key}</dt>
              <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      {rule && <Rule title="The rule that allows it" rule={rule} />}
      {missingRule && <Rule title="The rule that is missing" rule={missingRule} />}
      {changes.length > 0 && (
        <ul class="changes">
          {changes.map(({ path, from, to }) => (
            <li key={path}>
              <code>{path}</code> {from !== undefined && <del>{valueText(from)}</del>} <ins>{valueText(to)}</ins>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

function Rule({ title, rule }: { title: string; rule: PolicyRule }) {
  return (
    <>
      <h3>{title}</h3>
      <RuleText rule={rule} />
    </>
  );
}
