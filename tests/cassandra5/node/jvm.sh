# SPDX-License-Identifier: GPL-3.0-or-later
# The packages that a JVM 11 or 17 must open to Cassandra 5; sourced by start.sh and tool.sh.
jvm_opens=(-Djdk.attach.allowAttachSelf=true -Dio.netty.tryReflectionSetAccessible=true)
for p in java.base/jdk.internal.misc java.management.rmi/com.sun.jmx.remote.internal.rmi java.rmi/sun.rmi.registry \
    java.rmi/sun.rmi.server java.sql/java.sql java.base/java.lang.ref jdk.unsupported/sun.misc \
    jdk.compiler/com.sun.tools.javac.file jdk.attach/sun.tools.attach; do
    jvm_opens+=(--add-exports "$p=ALL-UNNAMED")
done
for p in java.base/java.lang.module java.base/jdk.internal.loader java.base/jdk.internal.ref \
    java.base/jdk.internal.reflect java.base/jdk.internal.math java.base/jdk.internal.module \
    java.base/jdk.internal.util.jar jdk.management/com.sun.management.internal java.base/sun.nio.ch java.base/java.io \
    java.base/java.lang.reflect jdk.compiler/com.sun.tools.javac java.base/java.lang java.base/java.util \
    java.base/java.nio java.base/java.util.concurrent java.base/java.util.concurrent.atomic; do
    jvm_opens+=(--add-opens "$p=ALL-UNNAMED")
done
