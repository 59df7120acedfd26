// SPDX-License-Identifier: MIT
import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/** A program that holds more and more, and writes its own heap: Held FIRST.hprof SECOND.hprof (test_java.py). */
public class Held {
    enum Kind { OPEN, CLOSED }

    static class Session {
        final String name;
        final byte[] body;
        final Kind kind;

        Session(int i) {
            name = "session-" + i;
            body = new byte[i % 500];
            kind = i % 2 == 0 ? Kind.OPEN : Kind.CLOSED;
        }
    }

    static class Node {
        Node next;
    }

    static final List<Session> sessions = new ArrayList<>();
    static final long[][] table = new long[40][];
    static Node chain;

    static void dump(String path) throws Exception {
        ManagementFactory.newPlatformMXBeanProxy(
                        ManagementFactory.getPlatformMBeanServer(),
                        "com.sun.management:type=HotSpotDiagnostic",
                        HotSpotDiagnosticMXBean.class)
                .dumpHeap(path, true);
    }

    public static void main(String[] paths) throws Exception {
        for (int i = 0; i < 3000; i++) sessions.add(new Session(i));
        for (int i = 0; i < table.length; i++) table[i] = new long[i];
        for (int i = 0; i < 2000; i++) {
            Node node = new Node();
            node.next = chain;
            chain = node;
        }
        dump(paths[0]);
        for (int i = 0; i < 2000; i++) sessions.add(new Session(i));
        dump(paths[1]);
        System.out.println("ready");
        System.in.read();
    }
}
