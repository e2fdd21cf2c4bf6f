/* A page that is read from the disk may start no worker, and the search needs one. There a hidden frame does its work. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.answer = data => this.dispatchEvent(new MessageEvent("message", { data }));
      frame.srcdoc = `<script>window.postMessage = data => frameElement.answer(data)</script><script src="${url}"></script>`;
      this.ready = new Promise(done => { frame.onload = () => done(frame.contentWindow); });
      document.body.append(frame);
    }
    async postMessage(data) {
      const inside = await this.ready;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }
  };
}
