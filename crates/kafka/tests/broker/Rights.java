import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

/** Gives rights: the address of a broker, then a topic, who, and what they may do there, as often as need be. Run from its source. */
class Rights {
    public static void main(String[] words) throws Exception {
        List<AclBinding> rights = new ArrayList<>();
        for (int at = 1; at < words.length; at += 3) {
            AclOperation what = AclOperation.fromString(words[at + 2]);
            rights.add(new AclBinding(
                    new ResourcePattern(ResourceType.TOPIC, words[at], PatternType.LITERAL),
                    new AccessControlEntry("User:" + words[at + 1], "*", what, AclPermissionType.ALLOW)));
        }
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", words[0]))) {
            admin.createAcls(rights).all().get();
        }
    }
}
