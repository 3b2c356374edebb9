"""Four networks, each written once for both Tenon and ONNX. Each function takes an object that makes
layers (layers.py) and returns the outputs of the network.

Batch normalizations are folded into the weights of the preceding convolutions, as in deployed
networks. The default sizes are those of the publications.
"""


def resnet50(l, size=224, width=64, blocks=(3, 4, 6, 3)):
    """He and others, "Deep Residual Learning for Image Recognition". In each stage's
    first block, the 3 x 3 convolution has the stride, not the first 1 x 1 convolution, as in most
    later implementations."""
    x = l.image("image", (1, 3, size, size))
    x = l.relu(l.conv(x, width, 7, stride=2))
    x = l.max_pool(x, 3, stride=2)
    for stage, count in enumerate(blocks):
        filters = width * 2**stage
        for block in range(count):
            stride = 2 if stage > 0 and block == 0 else 1
            shortcut = x if block > 0 else l.conv(x, 4 * filters, 1, stride=stride)
            x = l.relu(l.conv(x, filters, 1))
            x = l.relu(l.conv(x, filters, 3, stride=stride))
            x = l.relu(l.add(l.conv(x, 4 * filters, 1), shortcut))
    return [l.dense(l.mean_of_images(x), 1000)]


# Expansion, filters, number of blocks, stride of the first block.
MOBILE_STAGES = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def mobilenet_v2(l, size=224, stages=MOBILE_STAGES):
    """Sandler and others, "MobileNetV2: Inverted Residuals and Linear Bottlenecks"."""
    x = l.image("image", (1, 3, size, size))
    x = l.relu6(l.conv(x, 32, 3, stride=2))
    for expansion, filters, count, first_stride in stages:
        for block in range(count):
            stride = first_stride if block == 0 else 1
            channels = l.channels(x)
            y = x if expansion == 1 else l.relu6(l.conv(x, expansion * channels, 1))
            y = l.relu6(l.depthwise_conv(y, 3, stride=stride))
            y = l.conv(y, filters, 1)
            x = l.add(x, y) if stride == 1 and channels == filters else y
    x = l.relu6(l.conv(x, 1280, 1))
    return [l.dense(l.mean_of_images(x), 1000)]


def heads_of(l, x, heads):
    """Returns {positions, heads * width} as {heads, positions, width}."""
    positions, width = l.shape(x)
    return l.transpose(l.reshape(x, (positions, heads, width // heads)), (1, 0, 2))


def joined_heads(l, x):
    """Returns {heads, positions, width} as {positions, heads * width}."""
    heads, positions, width = l.shape(x)
    return l.reshape(l.transpose(x, (1, 0, 2)), (positions, heads * width))


def bert_base(l, positions=128, layers=12, width=768, heads=12, words=30522):
    """Devlin and others, "BERT: Pre-training of Deep Bidirectional Transformers for Language
    Understanding": the encoder, for one text of `positions` words."""
    text = l.input("text", (positions,), "int32")
    x = l.add(l.take(l.weight((words, width)), text), l.weight((positions, width)))
    x = l.layer_norm(x)
    for _ in range(layers):
        q, k, v = (heads_of(l, part, heads) for part in l.split(l.dense(x, 3 * width), 3))
        x = l.layer_norm(l.add(x, l.dense(joined_heads(l, l.attention(q, k, v)), width)))
        x = l.layer_norm(l.add(x, l.dense(l.gelu(l.dense(x, 4 * width)), width)))
    return [x]


def gpt2_step(l, past=512, layers=12, width=768, heads=12, words=50257):
    """Radford and others, "Language Models are Unsupervised Multitask Learners", the small model:
    the logits of the next word after `past` + 1 words. The keys and values of the first `past` words
    are inputs; those of the last word are outputs."""
    word = l.input("word", (1,), "int32")
    table = l.weight((words, width))
    x = l.add(l.take(table, word), l.weight((1, width)))
    new = []
    for n in range(layers):
        q, k, v = (heads_of(l, part, heads)
                   for part in l.split(l.dense(l.layer_norm(x), 3 * width), 3))
        new += [k, v]
        keys = l.concatenate([l.input(f"keys{n}", (heads, past, width // heads)), k], 1)
        values = l.concatenate([l.input(f"values{n}", (heads, past, width // heads)), v], 1)
        x = l.add(x, l.dense(joined_heads(l, l.attention(q, keys, values)), width))
        x = l.add(x, l.dense(l.gelu(l.dense(l.layer_norm(x), 4 * width)), width))
    return [l.product_with(l.layer_norm(x), table)] + new


NETWORKS = {f.__name__: f for f in (resnet50, mobilenet_v2, bert_base, gpt2_step)}
