// Samples as something to press: a picture, or an id.
const paintThumb = (element, i, side) => paintSprite(element, rankOf[i], n, side);

const unseen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    unseen.unobserve(target);
    paintThumb(target, Number(target.dataset.sample), Number(target.dataset.side));
  }
}, { rootMargin: "200px" });

addEventListener("beforeprint", () => document.querySelectorAll("button.thumb").forEach((target) => {
  paintThumb(target, Number(target.dataset.sample), Number(target.dataset.side));
}));

const aboutSample = (i) => `sample ${idOf(i)}, ${names.of(clusterOf[i])}, confidence ${confidenceOf[i].toFixed(2)}`;

// A press opens the sample; from there one steps through the others of the list.
function sampleButton(i, side = 44, list = [i]) {
  const button = make("button", { type: "button", title: idOf(i) });
  button.dataset.sample = i;
  button.setAttribute("aria-label", aboutSample(i));
  button.addEventListener("click", () => openLarge(i, list));
  if (content.thumbs) {
    button.className = "thumb";
    button.dataset.side = side;
    [button.style.width, button.style.height] = spriteSize(side).map((length) => length + "px");
    unseen.observe(button);
  } else {
    button.className = "chip";
    button.textContent = idOf(i);
  }
  return button;
}
const sampleButtons = (list, side) => list.map((i) => sampleButton(i, side, list));
