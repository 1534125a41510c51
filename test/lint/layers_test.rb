# frozen_string_literal: true

require_relative "checks"

class LayersTest < Lint::TestCase
  def test_this_tree_follows_the_layer_table
    assert_clean Lint::Layers
  end

  def test_the_table_has_each_directory_of_the_core
    assert_equal Dir.children(File.join(ROOT, "core/src")).sort, Lint::LayerTable::CORE.keys.map(&:to_s).sort
  end

  # { fault => [file that has the fault, the file's text, part of the check's message] }
  BAD = {
    "bytes use a socket" => ["core/src/base/buf.c", "#include <sys/socket.h>\n", "includes <sys/socket.h>"],
    "bytes use errno" => ["core/src/http/h1_head.c", "#include <errno.h>\n", "includes <errno.h>"],
    "bytes use the sockets layer" => ["core/src/http/h1_body.h", "#include \"sockets/sock.h\"\n", "of layer sockets"],
    "system layer knows HTTP" => ["core/src/sockets/sock.c", "#include \"http/h1_head.h\"\n", "of layer http"],
    "conn uses the poller" => ["core/src/conn/conn.c", "#include \"sockets/poller.h\"\n", "includes sockets/poller.h"],
    "lane uses the I/O thread" => ["core/src/lane/lane.c", "#include \"io_thread/io_thread.h\"\n",
                                   "of layer io_thread"],
    "conn uses the lane" => ["core/src/conn/conn.c", "# include \"lane/lane.h\"\n", "of layer lane"],
    "core knows Ruby" => ["core/src/lane/lane.c", "#include <ruby.h>\n", "no host language"],
    "core knows Perl" => ["core/src/lane/lane.c", "#include <perl.h>\n", "no host language"],
    "core knows the binding" => ["core/src/lane/lane.c", "#include \"rb_lane.h\"\n", "no host language"],
    "core leaves its directory" => ["core/src/lane/lane.c", "#include \"../x.h\"\n", "not the core's"],
    "a file in no layer" => ["core/src/stray.c", "#include <string.h>\n", "is in no layer"],
    "a directory that is no layer" => ["core/src/misc/a.c", "#include <string.h>\n", "is in no layer"],
    "a socket file among the bytes" => ["core/src/base/sock.c", "#include <sys/socket.h>\n", "includes <sys/socket.h>"],
    "a header without its directory" => ["core/src/conn/conn.c", "#include \"conn.h\"\n", "not the core's"],
    "the public header pulls in more" => ["core/include/bontebok.h", "#include <errno.h>\n", "includes <errno.h>"],
    "binding uses the core's headers" => ["ext/bontebok/rb_lane.c", "#include \"lane.h\"\n", "only bontebok.h"],
    "binding waits by itself" => ["ext/bontebok/rb_lane.c", "#include <sys/epoll.h>\n", "includes <sys/epoll.h>"],
    "the Perl binding uses the core's headers" => ["perl/xs/A.xs", "#include \"lane.h\"\n", "only bontebok.h"],
    "the Perl binding waits by itself" => ["perl/xs/bbp_a.c", "#include <poll.h>\n", "includes <poll.h>"],
    "load tool uses the core's sockets" => ["load/src/main.c", "#include \"sockets/sock.h\"\n", "nor of base or http"],
    "load tool knows Ruby" => ["load/src/main.c", "#include <ruby.h>\n", "no host language"],
    "lib requires a gem" => ["lib/bontebok/log/a.rb", "require \"nokogiri\"\n", "neither rack"],
    "lib reads sockets" => ["lib/bontebok/log/a.rb", "  require 'x'\nrequire \"socket\"\n", "a.rb:2 requires socket"],
    "lib leaves lib" => ["lib/bontebok/log/a.rb", "require_relative \"../../../test/x\"\n", "outside of lib/"],
    "lib requires what is not there" => ["lib/bontebok/log/a.rb", "require_relative \"gone\"\n", "not there"],
    "log uses a worker" => ["lib/bontebok/log/a.rb", "require_relative \"../workers/worker\"\n", "of layer workers"],
    "a Ruby file in no layer" => ["lib/bontebok/stray.rb", "", "is in no layer"],
    "a Ruby directory that is no layer" => ["lib/bontebok/misc/a.rb", "", "is in no layer"],
    "lib requires mkmf" => ["lib/bontebok/log/a.rb", "require \"mkmf\"\n", "requires mkmf"]
  }.freeze

  # Files that the bad files include or require. These files exist, so only the layer is wrong.
  GOOD = %w[core/src/sockets/sock.h core/src/http/h1_head.h core/src/sockets/poller.h core/src/lane/lane.h
            core/src/io_thread/io_thread.h lib/bontebok/workers/worker.rb test/x.rb]
         .to_h { |path| [path, "\n"] }.freeze

  BAD.each do |what, (path, text, message)|
    define_method("test_it_is_reported_that_#{what.tr(" ", "_")}") do
      found = faults(Lint::Layers, GOOD.merge(path => text))
      assert_equal 1, found.size, found.inspect
      assert_includes found.first, message
      assert_match(/\A#{path}[: ]/, found.first)
    end
  end

  def test_allowed_includes_and_requires_are_not_reported
    assert_empty faults(Lint::Layers, GOOD.merge(ALLOWED))
  end

  ALLOWED = {
    "core/src/conn/conn.c" => "#include \"http/h1_head.h\"\n#include \"sockets/sock.h\"\n" \
                              "\n#include \"bontebok.h\"\n#include <errno.h>\n",
    "core/src/lane/lane.c" => "#include \"sockets/poller.h\"\n#include <sys/epoll.h>\n",
    "ext/bontebok/rb_a.c" => "#include \"rb_a.h\"\n#include <bontebok.h>\n",
    "ext/bontebok/rb_a.h" => "#include <ruby.h>\n",
    "perl/xs/bbp_a.c" => "#include \"bbp_a.h\"\n",
    "perl/xs/bbp_a.h" => "#include <bontebok.h>\n#include <perl.h>\n#include <sys/types.h>\n",
    "ext/bontebok/extconf.rb" => "require \"mkmf\"\n",
    "lib/bontebok/sockets/listener.rb" => "require \"socket\"\nrequire \"rack\"\nrequire \"json\"\n",
    "lib/bontebok/workers/worker.rb" => "require \"bontebok/bontebok\"\nrequire_relative \"../sockets/listener\"\n"
  }.freeze
end
