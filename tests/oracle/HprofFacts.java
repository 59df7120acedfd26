// SPDX-License-Identifier: MIT
// Says in lines what VisualVM's library reads in a .hprof: tests/oracle/check_hprof.py compares them.
//
// HprofFacts FILE RETAINED [ID ...]: how many of the biggest objects to tell, and objects whose fields and
// way to a root are told.
import java.io.File;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.graalvm.visualvm.lib.jfluid.heap.*;

public class HprofFacts {
    static PrintStream out;

    static void line(Object... cells) {
        StringBuilder text = new StringBuilder();
        for (Object cell : cells) {
            if (text.length() > 0) text.append('\t');
            text.append(String.valueOf(cell).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r"));
        }
        out.println(text);
    }

    static String hex(Instance instance) {
        return instance == null ? "0" : Long.toHexString(instance.getInstanceId());
    }

    static String textOf(Instance string) {
        Object value = string.getValueOfField("value");
        if (!(value instanceof PrimitiveArrayInstance)) return null;
        PrimitiveArrayInstance array = (PrimitiveArrayInstance) value;
        StringBuilder text = new StringBuilder();
        List<String> units = array.getValues();
        Object coder = string.getValueOfField("coder");
        if (coder == null) {
            for (String unit : units) text.append(unit);
        } else if (((Number) coder).intValue() == 0) {
            for (String unit : units) text.append((char) (Integer.parseInt(unit) & 0xff));
        } else {
            for (int i = 0; i + 1 < units.size(); i += 2)
                text.append((char) (Integer.parseInt(units.get(i)) & 0xff | (Integer.parseInt(units.get(i + 1)) & 0xff) << 8));
        }
        return text.toString();
    }

    static void tellObject(Heap heap, long id) {
        Instance instance = heap.getInstanceByID(id);
        if (instance == null) {
            line("missing", Long.toHexString(id));
            return;
        }
        line("object", hex(instance), instance.getJavaClass().getName(), instance.getSize());
        for (FieldValue field : instance.getFieldValues()) {
            if (field instanceof ObjectFieldValue) {
                line("reference", hex(instance), field.getField().getName(), hex(((ObjectFieldValue) field).getInstance()));
            } else {
                line("value", hex(instance), field.getField().getName(), field.getValue());
            }
        }
        Instance at = instance;
        for (int i = 0; i < 200; i++) {
            Instance next = at.getNearestGCRootPointer();
            line("path", hex(instance), hex(at), at.getJavaClass().getName(), next == null ? "dead" : next == at ? "root" : "on");
            if (next == null || next == at) break;
            at = next;
        }
    }

    static void tellThread(ThreadObjectGCRoot root) {
        Instance thread = root.getInstance();
        Object name = thread == null ? null : thread.getValueOfField("name");
        line("thread", hex(thread), name instanceof Instance ? textOf((Instance) name) : "");
        StackTraceElement[] trace = root.getStackTrace();
        if (trace == null) return;
        for (StackTraceElement frame : trace) line("frame", hex(thread), frame.getClassName(), frame.getMethodName());
    }

    public static void main(String[] args) throws Exception {
        out = new PrintStream(System.out, false, "UTF-8");
        Heap heap = HeapFactory.createHeap(new File(args[0]));
        for (Object row : heap.getAllClasses()) {
            JavaClass of = (JavaClass) row;
            line("class", of.getName(), of.getInstancesCount(), of.getAllInstancesSize(), of.getInstanceSize());
            for (Object value : of.getStaticFieldValues()) {
                if (value instanceof ObjectFieldValue)
                    line("static", of.getName(), ((FieldValue) value).getField().getName(), hex(((ObjectFieldValue) value).getInstance()));
            }
        }
        for (Map.Entry<Object, Object> row : new TreeMap<Object, Object>(heap.getSystemProperties()).entrySet())
            line("property", row.getKey(), row.getValue());
        JavaClass strings = heap.getJavaClassByName("java.lang.String");
        if (strings != null) {
            for (Object row : strings.getInstances()) line("text", hex((Instance) row), textOf((Instance) row));
        }
        Map<String, Integer> kinds = new TreeMap<>();
        for (Object row : heap.getGCRoots()) {
            GCRoot root = (GCRoot) row;
            kinds.merge(root.getKind() + (root.getInstance() == null ? " without instance" : ""), 1, Integer::sum);
            if (root instanceof ThreadObjectGCRoot) tellThread((ThreadObjectGCRoot) root);
            if (root instanceof JavaFrameGCRoot) {
                JavaFrameGCRoot frame = (JavaFrameGCRoot) root;
                line("frame root", hex(root.getInstance()), frame.getFrameNumber(), hex(frame.getThreadGCRoot().getInstance()));
            }
        }
        for (Map.Entry<String, Integer> row : kinds.entrySet()) line("roots", row.getKey(), row.getValue());
        int biggest = Integer.parseInt(args[1]);
        if (biggest > 0) {
            for (Object row : heap.getBiggestObjectsByRetainedSize(biggest))
                line("retained", hex((Instance) row), ((Instance) row).getRetainedSize(), ((Instance) row).getJavaClass().getName());
        }
        for (int i = 2; i < args.length; i++) tellObject(heap, Long.parseUnsignedLong(args[i], 16));
        out.flush();
    }
}
