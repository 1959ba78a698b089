import { render } from 'preact';
import { Page } from './components/page.tsx';
import { AppProvider, createApp } from './state/app.ts';

const app = createApp(window);
window.addEventListener('keydown', (event) => app.keyboard.handle(event, performance.now()));
render(
  <AppProvider value={app}>
    <Page />
  </AppProvider>,
  document.getElementById('console')!,
);
