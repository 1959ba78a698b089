import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient, TestList } from './support/api-client.ts';
import { Clients } from './support/kubectl.ts';
import { PROJECTS, type Project } from './support/project-definitions.ts';
import { startServer } from './support/server.ts';

/* Definitions as ten widely used projects bring them: installed, listed, explained, and given objects. */

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

let api: ApiClient;
let clients: Clients;

beforeAll(async () => {
  const server = await startServer();
  api = server.client();
  clients = new Clients(server);
});

const pathOf = ({ definition: { spec } }: Project, version: string): string => {
  const isNamespaced = (spec as unknown as { scope: string }).scope === 'Namespaced';
  return `/apis/${spec.group}/${version}/${isNamespaced ? 'namespaces/default/' : ''}${spec.names.plural}`;
};
const objectOf = ({ definition: { spec } }: Project, version: string, name: string, content: object): object => ({
  apiVersion: `${spec.group}/${version}`,
  kind: spec.names.kind,
  metadata: { name },
  spec: content,
});

describe.each(PROJECTS.map((project) => [project.like, project] as const))('%s', (_like, project) => {
  const { names, versions } = project.definition.spec;
  const [stored] = versions;

  test('is installed, listed and explained', async () => {
    await api.create(DEFINITIONS, project.definition);
    for (const { name } of versions) expect(await api.get<TestList>(pathOf(project, name))).toMatchObject({ kind: `${names.kind}List`, items: [] });
    const [field, type] = project.explained;
    const resource = `${names.plural}.${project.definition.spec.group}`;
    const explained = await clients.kubectl(`explain ${resource}.${field}`);
    expect(explained).toContain(`KIND:       ${names.kind}`);
    expect(explained).toContain(`FIELD: ${field.split('.').at(-1)} ${type}`);
    expect(await clients.kubectl(`explain ${resource} --recursive`)).toContain('spec\t<Object>');
  });

  test('takes a valid object in all its versions', async () => {
    for (const { name } of versions) {
      const created = await api.create(`${pathOf(project, name)}?fieldValidation=Strict`, objectOf(project, name, `valid-${name}`, project.valid));
      expect(created.spec).toMatchObject(project.valid);
    }
    expect((await api.get<TestList>(pathOf(project, stored!.name))).items).toHaveLength(versions.length);
    const listed = await clients.kubectl(`get ${names.plural}.${project.definition.spec.group} valid-${stored!.name}`);
    expect(listed).toMatch(/^NAME +READY +AGE\n/);
  });

  test('refuses what is wrong', async () => {
    for (const [content, message] of project.invalid) {
      const path = pathOf(project, stored!.name);
      const refused = await api.expect(422, { method: 'POST', path, body: objectOf(project, stored!.name, 'wrong', content) });
      expect(refused.json<{ message: string }>().message).toContain(message);
    }
  });
});
