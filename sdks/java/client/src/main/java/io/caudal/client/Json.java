package io.caudal.client;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.type.LogicalType;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;

/** How values are read from JSON and written as it. */
public final class Json {
    /** What does not fit a type is an error, never another value: no text for a number, no half for an integer, no null for an int. */
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .addModule(new JavaTimeModule())
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .withCoercionConfig(
                    LogicalType.Textual, text -> text.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                            .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                            .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail))
            .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS, SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
            .build();

    private Json() {}

    /**
     * The mapper that is used where no other is given. Add modules of your own to its {@link ObjectMapper#copy copy}.
     *
     * @return one that must not be changed
     */
    public static ObjectMapper mapper() {
        return MAPPER;
    }

    /** A value as a JSON object; nothing is an empty one. */
    static ObjectNode object(ObjectMapper mapper, Object value) {
        JsonNode tree;
        try {
            tree = mapper.valueToTree(value);
        } catch (IllegalArgumentException e) {
            throw new NonRetryableException("the result cannot be written as JSON: " + e.getMessage(), e);
        }
        if (tree == null || tree.isNull()) {
            return mapper.createObjectNode();
        }
        if (tree instanceof ObjectNode object) {
            return object;
        }
        throw new NonRetryableException("variables must be an object, not " + tree.getNodeType());
    }
}
