package io.caudal.client.grpc;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ListValue;
import com.google.protobuf.NullValue;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.caudal.client.ApiException;
import java.math.BigDecimal;
import java.math.BigInteger;

/** JSON as protobuf's own types, and back. */
final class Structs {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    /** From here on not every integer is a double. */
    private static final double INTEGER_MAX = 9007199254740992.0;

    private Structs() {}

    static Struct write(ObjectNode object) {
        Struct.Builder written = Struct.newBuilder();
        object.properties().forEach(field -> written.putFields(field.getKey(), write(field.getValue())));
        return written.build();
    }

    static ObjectNode read(Struct struct) {
        ObjectNode object = JSON.objectNode();
        struct.getFieldsMap().forEach((name, value) -> object.set(name, read(value)));
        return object;
    }

    private static Value write(JsonNode node) {
        Value.Builder written = Value.newBuilder();
        return switch (node.getNodeType()) {
            case OBJECT -> written.setStructValue(write((ObjectNode) node)).build();
            case ARRAY -> {
                ListValue.Builder list = ListValue.newBuilder();
                node.forEach(one -> list.addValues(write(one)));
                yield written.setListValue(list).build();
            }
            case BOOLEAN -> written.setBoolValue(node.booleanValue()).build();
            case NUMBER -> written.setNumberValue(number(node)).build();
            case NULL, MISSING -> written.setNullValue(NullValue.NULL_VALUE).build();
            case STRING, BINARY, POJO -> written.setStringValue(node.asText()).build();
        };
    }

    /** What would arrive as another number is refused. */
    private static double number(JsonNode node) {
        double number = node.doubleValue();
        if (node.isIntegralNumber() && !isExactly(node.bigIntegerValue(), number)) {
            throw new ApiException(
                    400,
                    "INVALID_ARGUMENT",
                    node.asText() + " is no double, as numbers are over gRPC: use REST, or write it as text");
        }
        return number;
    }

    private static boolean isExactly(BigInteger integer, double number) {
        return Double.isFinite(number) && new BigDecimal(number).toBigInteger().equals(integer);
    }

    private static JsonNode read(Value value) {
        return switch (value.getKindCase()) {
            case STRUCT_VALUE -> read(value.getStructValue());
            case LIST_VALUE -> {
                ArrayNode list = JSON.arrayNode();
                value.getListValue().getValuesList().forEach(one -> list.add(read(one)));
                yield list;
            }
            case BOOL_VALUE -> JSON.booleanNode(value.getBoolValue());
            case NUMBER_VALUE -> number(value.getNumberValue());
            case STRING_VALUE -> JSON.textNode(value.getStringValue());
            case NULL_VALUE, KIND_NOT_SET -> JSON.nullNode();
        };
    }

    /** An integer where it is one, so that it fits an {@code int} or a {@code long}. From 2^53 on it may have been another, and fits neither. */
    private static JsonNode number(double number) {
        if (number != Math.rint(number) || Math.abs(number) >= INTEGER_MAX) {
            return JSON.numberNode(number);
        }
        long whole = (long) number;
        return whole == (int) whole ? JSON.numberNode((int) whole) : JSON.numberNode(whole);
    }
}
