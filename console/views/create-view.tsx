import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { stringify } from 'yaml';
import type { Resource } from '../api/discovery.ts';
import { type ResourcePath, formatPath } from '../api/resource-path.ts';
import { EditPanel } from '../components/edit-panel.tsx';
import { KubectlLine } from '../components/kubectl-line.tsx';
import { useFieldDocs } from '../components/use-field-docs.ts';
import { YamlPane } from '../components/yaml-pane.tsx';
import { exampleOf } from '../schema/example.ts';
import { useApp } from '../state/app.ts';
import { EditSession } from '../state/edit-session.ts';
import { parseObject } from '../yaml/object-text.ts';

interface CreateViewProps {
  place: ResourcePath;
  resource: Resource;
}

/** A new object, which begins as an example made from the server's own schema. */
export function CreateView({ place, resource }: CreateViewProps) {
  const app = useApp();
  const edit = useSignal<EditSession | undefined>(undefined);
  const { group, version, plural } = resource;
  const { tooltipFor } = useFieldDocs(resource, edit.value?.text.value ?? '');
  useEffect(() => {
    const begin = (text: string): void => {
      edit.value = new EditSession(app.client, collectionOf(text), undefined, text);
    };
    const namespace = place.namespace ?? app.namespace.value;
    app.openApi.document(group, version).then(
      (document) => begin(stringify(exampleOf(document, resource, namespace), { indentSeq: false })),
      () => begin(''),
    );
  }, [group, plural]);

  /** Where the object says that it belongs. */
  const collectionOf = (text: string): string => {
    const namespace = parseObject(text).object?.metadata?.namespace;
    return formatPath({ group, version, plural, ...(resource.isNamespaced && { namespace: namespace ?? place.namespace ?? 'default' }) });
  };
  const change = (text: string): void => {
    const session = edit.value!;
    if (collectionOf(text) === session.path) session.edit(text);
    else edit.value = new EditSession(app.client, collectionOf(text), undefined, text);
  };
  const create = async (): Promise<void> => {
    const created = await edit.value?.save();
    if (created === undefined) return;
    const { name, namespace } = created.metadata;
    app.router.go(formatPath({ group, version, plural, name, ...(namespace !== undefined && { namespace }) }));
  };
  return (
    <div class="view">
      <div class="toolbar">
        <h1>Create {resource.kind}</h1>
        <span class="muted">An example made from the server's schema. Change it as you like.</span>
      </div>
      {edit.value === undefined ? (
        <p class="loading">Reading the schema…</p>
      ) : (
        <div class="object">
          <YamlPane
            text={edit.value.text.value}
            revision="example"
            label={`A new ${resource.kind} as YAML`}
            isReadOnly={false}
            onChange={change}
            docs={tooltipFor}
          />
          <EditPanel edit={edit.value} action="Create" onSave={() => void create()} onCancel={() => app.router.go(formatPath(place))} />
        </div>
      )}
      <KubectlLine command={`kubectl create -f ${resource.singular || plural}.yaml`} />
    </div>
  );
}
