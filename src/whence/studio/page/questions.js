// The next question, and the answers that were given.

import { $ } from "./dom.js";

export class Questions {
  constructor(desk, walker) {
    this.desk = desk;
    this.walker = walker;
  }

  show(told) {
    $("questions").hidden = !told;
  }
}
