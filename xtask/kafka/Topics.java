import java.util.Arrays;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;

/** Makes topics: the address of a broker, then their names. Run from its source, with the broker's own jars. */
class Topics {
    public static void main(String[] words) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", words[0]))) {
            admin.createTopics(Arrays.stream(words).skip(1).map(name -> new NewTopic(name, 2, (short) 1)).toList()).all().get();
        }
    }
}
