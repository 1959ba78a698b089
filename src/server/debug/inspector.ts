/** In a file of its own, which is loaded when the first profile is asked for: a start must not wait for the inspector, and the bundle can import only its own files late. */
export { Session } from 'node:inspector/promises';
