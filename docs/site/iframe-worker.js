/* Browsers start no worker from file://. The search of the site then runs in a hidden frame instead. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const base = new URL(address, document.baseURI);
      this.queue = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.body.append(frame);
      const inner = (this.inner = frame.contentWindow);
      inner.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        if (this.onmessage) this.onmessage(event);
        this.dispatchEvent(event);
      };
      inner.importScripts = (...addresses) =>
        addresses.reduce(
          (before, each) =>
            before.then(
              () =>
                new Promise((done, failed) => {
                  const script = inner.document.createElement("script");
                  Object.assign(script, { src: new URL(each, base).href, onload: done, onerror: failed });
                  inner.document.body.append(script);
                }),
            ),
          Promise.resolve(),
        );
      inner.importScripts(base.href).then(() => {
        const queue = this.queue;
        this.queue = null;
        queue.forEach((data) => this.postMessage(data));
      });
    }
    postMessage(data) {
      if (this.queue) this.queue.push(data);
      else this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data }));
    }
    terminate() {
      this.inner.frameElement.remove();
    }
  };
}
