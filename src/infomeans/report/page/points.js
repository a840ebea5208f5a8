// The points of the map: one call to the graphics card, or a plain canvas where there is none.
// Both draw the signs from the same outlines as the legend. A painter is told which points there
// are, as places (x, y) and looks (red, green, blue, number of the sign), and paints a view of them,
// or of the first share of them.
const SIGN_NAMES = Object.keys(SIGNS);

const VERTEX = `
attribute vec2 place;
attribute vec4 look;
uniform vec2 middle, half_extent;
uniform float side;
varying vec3 tint;
varying float symbol;
void main() {
  tint = look.rgb;
  symbol = floor(look.a * 255.0 + 0.5);
  gl_Position = vec4((place - middle) / half_extent, 0.0, 1.0);
  gl_PointSize = side;
}`;
const FRAGMENT = `
precision mediump float;
uniform sampler2D symbols;
uniform vec3 rim;
uniform float opacity;
varying vec3 tint;
varying float symbol;
void main() {
  vec4 ink = texture2D(symbols, vec2((symbol + gl_PointCoord.x) / ${SIGN_NAMES.length}.0, gl_PointCoord.y));
  gl_FragColor = vec4(mix(tint, rim, ink.g), 1.0) * ink.a * opacity;
}`;

// A sign in a square of this side, with a rim if it has a colour.
function drawSign(context, name, left, side, fill, rim) {
  const outline = new Path2D(SIGNS[name]);
  context.setTransform(side / 16, 0, 0, side / 16, left, 0);
  context.fillStyle = fill;
  context.fill(outline);
  if (!rim) return;
  context.strokeStyle = rim;
  context.lineWidth = 12 / side;
  context.stroke(outline);
}

class CardPainter {
  get canvas() { return this.gl.canvas; }

  constructor(gl) {
    this.gl = gl;
    this.count = 0;
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    gl.useProgram(program);
    this.uniforms = Object.fromEntries(["middle", "half_extent", "side", "rim", "opacity"].map((name) => [name, gl.getUniformLocation(program, name)]));
    this.buffers = [["place", 2, gl.FLOAT, false], ["look", 4, gl.UNSIGNED_BYTE, true]].map(([name, size, type, share]) => {
      const buffer = gl.createBuffer(), attribute = gl.getAttribLocation(program, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(attribute);
      gl.vertexAttribPointer(attribute, size, type, share, 0, 0);
      return buffer;
    });
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
  }

  set(places, looks) {
    const { gl } = this;
    this.count = places.length / 2;
    [places, looks].forEach((values, at) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[at]);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    });
  }

  paint({ x, y, scale }, { side, rim, opacity, share }) {
    const { gl, uniforms } = this, { width, height } = gl.canvas;
    this.#sheet(side, rim !== null);
    gl.viewport(0, 0, width, height);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform2f(uniforms.middle, x, y);
    gl.uniform2f(uniforms.half_extent, width / 2 / scale, height / 2 / scale);
    gl.uniform1f(uniforms.side, side);
    gl.uniform1f(uniforms.opacity, opacity);
    gl.uniform3fv(uniforms.rim, (rim || [0, 0, 0]).map((part) => part / 255));
    gl.drawArrays(gl.POINTS, 0, Math.ceil(share * this.count));
  }

  // All signs side by side, as large as they are drawn: what is fill is red, what is rim green.
  #sheet(side, rimmed) {
    if (this.drawn === `${side} ${rimmed}`) return;
    this.drawn = `${side} ${rimmed}`;
    const sheet = make("canvas", { width: side * SIGN_NAMES.length, height: side });
    SIGN_NAMES.forEach((name, at) => drawSign(sheet.getContext("2d"), name, at * side, side, "#f00", rimmed && "#0f0"));
    const { gl } = this;
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, sheet);
  }
}

class PlainPainter {
  get canvas() { return this.context.canvas; }

  constructor(context) {
    this.context = context;
    this.set([], []);
  }

  set(places, looks) {
    Object.assign(this, { places, looks });
  }

  paint({ x, y, scale }, { side, rim, opacity, share }) {
    const { context, places, looks } = this, { width, height } = context.canvas;
    if (this.drawn !== `${side} ${rim}`) Object.assign(this, { drawn: `${side} ${rim}`, pictures: new Map() });
    context.clearRect(0, 0, width, height);
    context.globalAlpha = opacity;
    for (let at = 0; at < share * places.length / 2; at++) {
      const left = width / 2 + (places[2 * at] - x) * scale - side / 2;
      const top = height / 2 - (places[2 * at + 1] - y) * scale - side / 2;
      if (left < -side || top < -side || left > width || top > height) continue;
      context.drawImage(this.#picture(looks.subarray(4 * at, 4 * at + 4), side, rim), left, top);
    }
  }

  #picture([red, green, blue, symbol], side, rim) {
    const key = ((red * 256 + green) * 256 + blue) * 256 + symbol;
    if (!this.pictures.has(key)) {
      const picture = make("canvas", { width: side, height: side });
      drawSign(picture.getContext("2d"), SIGN_NAMES[symbol], 0, side, `rgb(${red}, ${green}, ${blue})`, rim && `rgb(${rim})`);
      this.pictures.set(key, picture);
    }
    return this.pictures.get(key);
  }
}

// A canvas that has given one kind of context gives no other.
const plainPainter = () => new PlainPainter(make("canvas").getContext("2d"));
function makePainter() {
  const gl = make("canvas").getContext("webgl", { antialias: false });
  try {
    return gl && !gl.isContextLost() ? new CardPainter(gl) : plainPainter();
  } catch (error) {
    return plainPainter();
  }
}
