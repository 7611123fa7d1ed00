import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Makes topics: the address of a broker, then their names. Into each it puts what is no announcement of a job, or not of one that there is: whoever listens has to get
 * past it. Run from its source, with the broker's own jars.
 */
class Topics {
    private static final byte[][] POISON = {
        null, {}, bytes("\u00ff\u0000 no protobuf"), event("999", "{}"), event("no key", "{}"), event("999", "no JSON"),
    };

    public static void main(String[] words) throws Exception {
        Map<String, Object> place = Map.of("bootstrap.servers", words[0]);
        String[] names = Arrays.copyOfRange(words, 1, words.length);
        try (Admin admin = Admin.create(place)) {
            admin.createTopics(Arrays.stream(names).map(name -> new NewTopic(name, 2, (short) 1)).toList()).all().get();
        }
        ByteArraySerializer raw = new ByteArraySerializer();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(place, raw, raw)) {
            for (String name : names) {
                for (byte[] value : POISON) {
                    producer.send(new ProducerRecord<>(name, 0, bytes("1"), value));
                    producer.send(new ProducerRecord<>(name, 1, null, value));
                }
            }
        }
    }

    /** A message with the fields 10, the job's key, and 30, its variables. */
    private static byte[] event(String job, String variables) {
        return bytes("R" + (char) job.length() + job + "\u00f2\u0001" + (char) variables.length() + variables);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
