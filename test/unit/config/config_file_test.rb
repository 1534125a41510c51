# frozen_string_literal: true

require "test_helper"
require "bontebok/config/config_file"
require "bontebok/config/config_styles"

# Tests of the configuration file: options are methods, and messages have file and line.
class ConfigFileTest < Support::TestCase
  def test_options_are_methods
    entries = read("max_workers 4\nlisten '80', 'unix:@a'\nlisten '81'\nheader_timeout 0.5\npreload false\n")
    assert_equal({ max_workers: 4, listen: ["80", "unix:@a", "81"], header_timeout: 0.5, preload: false },
                 entries.transform_values(&:value))
    assert_equal ["#{@path}:1", "#{@path}:5"], [entries[:max_workers].place, entries[:preload].place]
  end

  def test_a_nil_value_sets_nothing
    assert_empty read("threads 2\nmax_worker_age nil\nthreads nil\nlisten nil\ndirectory nil\n")
    assert_equal ["80"], read("listen nil, '80'\n")[:listen].value
  end

  def test_an_alias_sets_the_option
    assert_equal({ max_workers: 2 }, read("workers 2\n").transform_values(&:value))
  end

  def test_the_file_is_ruby_code
    entries = read("2.times { |i|\n threads i + 1\n}\nserver [__FILE__, __dir__].join('|')\n")
    assert_equal [2, "#{@path}|#{temp_dir}"], [entries[:threads].value, entries[:server].value]
    assert_equal "#{@path}:2", entries[:threads].place
  end

  # An application can have a constant Hooks, and a hook in the file can use this constant.
  def test_the_file_does_not_see_constants_and_variables_of_bontebok
    Object.const_set(:Hooks, :of_the_application)
    assert_equal :of_the_application, read("server Hooks")[:server].value
    assert_fault 2, ":1: uninitialized constant UsageError (NameError)", "UsageError"
    assert_fault 2, ":1: unknown option text", "text"
  ensure
    Object.send(:remove_const, :Hooks)
  end

  def test_return_ends_the_file
    assert_equal [1], read("threads 1\nreturn\nthreads 2\n").values.map(&:value)
  end

  def test_the_file_is_utf8_with_or_without_bom
    assert_equal "Käse", read("\uFEFFserver 'Käse'")[:server].value
  end

  def test_an_unknown_option_is_an_error
    { "config_file 'x'" => "config_file", "max_wrokers 3" => "max_wrokers (did you mean max_workers?)",
      "worker_processes 3" => "worker_processes (--config-style unicorn reads a file for unicorn)",
      "clear_binds!" => "clear_binds! (--config-style puma reads a file for puma)" }.each do |text, told|
      assert_fault 2, ":2: unknown option #{told}", "threads 1\n#{text}\n"
    end
  end

  # Ruby's own message would have the style's class in front of the constant.
  def test_a_missing_constant_has_the_name_that_the_file_uses
    assert_fault 2, ":2: uninitialized constant Redis (NameError)", "threads 1\nRedis.new\n"
    hooks = open_file(temp_file("bontebok.rb", "after_fork { Redis.new }\n")).hooks
    error = assert_raises(Bontebok::Hooks::Failed) { hooks.run(:after_fork, 1) }
    assert_equal ["uninitialized constant Redis", nil], [error.cause.message, error.cause.message[/\n/]]
  end

  # An application, or a library that the file requires, may load constants by Object.const_missing.
  def test_other_hooks_for_missing_constants_are_asked_first
    def Object.const_missing(name) = name == :Loaded ? 7 : super
    assert_equal 7, read("threads Loaded")[:threads].value
    assert_fault 2, ":1: uninitialized constant Redis (NameError)", "Redis.new"
  ensure
    Object.singleton_class.send(:remove_method, :const_missing)
  end

  def test_a_hook_is_a_block_or_a_lambda
    path = temp_file("bontebok.rb", "seen = []\nafter_fork { |w| seen << w }\nafter_fork ->(w) { seen << w + 1 }\n")
    assert_equal [1, 2], open_file(path).hooks.run(:after_fork, 1)
    assert_fault 2, ":1: after_fork wants a block", "after_fork"
    assert_fault 2, ":1: on_error wants a block", "on_error 'x'"
  end

  # A configuration file of the server Rhebok, with all options of Rhebok.
  def test_options_of_rhebok_are_known
    entries = read("host '127.0.0.1'\nport 9202\npath '/run/a.sock'\nmax_workers 1\ntimeout 300\n" \
                   "max_request_per_child 9\nmin_request_per_child 3\nspawn_interval 1\noobgc true\n" \
                   "max_gc_per_request 7\nmin_gc_per_request 2\nerr_respawn_interval 1\nbacklog 64\n" \
                   "reuseport true\nchunked_transfer true\nbefore_fork {\n}\nafter_fork {\n}\n")
    assert_equal({ host: "127.0.0.1", port: 9202, path: "/run/a.sock", backlog: 64, reuse_port: true,
                   oob_gc: true, max_gc_per_request: 7 },
                 entries.transform_values(&:value).slice(:host, :port, :path, :backlog, :reuse_port, :oob_gc,
                                                         :max_gc_per_request))
  end

  # In Rhebok 0.9.3, these options are on if they have a block.
  def test_two_options_of_rhebok_accept_a_block
    entries = read("reuseport { nil }\nchunked_transfer {}\n")
    assert_equal({ reuse_port: true, chunked_transfer: true }, entries.transform_values(&:value))
    assert_fault 2, ":1: reuse_port wants a value", "reuseport"
    assert_equal false, read("reuseport false")[:reuse_port].value
  end

  def test_options_of_rhebok_without_an_effect_get_advice
    path = temp_file("bontebok.rb", "min_request_per_child 3\nmin_gc_per_request 2\nspawn_interval 0\n")
    assert_equal ["#{path}:1: min_request_per_child has no effect: " \
                  "the limit of each worker is random, at least three quarters of max_request_per_child",
                  "#{path}:2: min_gc_per_request has no effect: " \
                  "the number of requests is random, at least three quarters of max_gc_per_request",
                  "#{path}:3: spawn_interval has no effect: " \
                  "workers are replaced one after the other, when the replacement is ready"],
                 open_file(path).warnings
  end

  def test_directory_changes_the_working_directory_at_once
    before = Dir.pwd
    temp_file("here/seen", "text")
    entries = read("directory '#{temp_dir}/here'\nserver File.read('seen')\n")
    assert_equal ["text", File.realpath("#{temp_dir}/here")], [entries[:server].value, Dir.pwd]
    Dir.mkdir("#{temp_dir}/here/too")
    read("directory '..'\ndirectory 'here/too'\n")
    assert_equal File.realpath("#{temp_dir}/here/too"), Dir.pwd
    assert_fault 1, ":1: cannot change to the directory /proc/none: No such file or directory", "directory '/proc/none'"
  ensure
    Dir.chdir(before)
  end

  def test_a_wrong_number_of_values_is_an_error
    assert_fault 2, ":1: threads wants a value", "threads"
    assert_fault 2, ":1: max_workers wants one value", "max_workers 1, 2"
  end

  # The file may be for another server although its name does not show this.
  def test_several_values_get_a_hint_if_another_server_accepts_them
    assert_fault 2, ":1: threads wants one value (--config-style puma reads a file for puma)", "threads 5, 5"
    assert_fault 2, ":1: user wants one value (--config-style unicorn reads a file for unicorn)", "user 'a', 'b'"
  end

  def test_an_exception_is_reported_with_file_and_line
    assert_fault 2, ":2: boom (RuntimeError)", "\nraise %(boom\\nmore)\n"
    assert_fault 2, /\A:2: .*syntax error/, "threads 1\nthreads (\n"
    assert_fault 2, /\A:1: cannot load such file -- no_such_file \(LoadError\)/, "require 'no_such_file'"
  end

  def test_exit_and_fatal_exceptions_are_reported_with_file_and_line
    assert_fault 2, ":1: exit (SystemExit)", "exit 5"
    assert_fault 2, ":1: Exception", "raise Exception"
    assert_fault 2, ":1: full (NoMemoryError)", "raise NoMemoryError, 'full'"
    assert_fault 2, ":1: stack level too deep (SystemStackError)", "def again = again\nagain"
    assert_fault 2, ":1: SyntaxError", "raise SyntaxError, ''"
    assert_fault 2, /\A:1: .*other\.rb:1: .*syntax error.* \(SyntaxError\)/, "load '#{temp_file('other.rb', '(')}'"
    assert_raises(Interrupt) { read("raise Interrupt") }
  end

  def test_any_message_of_an_exception_becomes_one_line
    assert_fault 2, ":1: RuntimeError", "raise ''"
    assert_fault 2, ":1: \uFFFDx (RuntimeError)", "raise %(\\xffx)"
    assert_fault 2, ":1: x (RuntimeError)", "raise %(\\n x \\n).encode('UTF-16')"
    assert_fault 2, ":1: IOError", "raise IOError.new.tap { |e| def e.message = raise('x') }"
    assert_fault 2, /\A:1: x{1000}\.\.\. \(RuntimeError\)\z/, "raise 'x' * 100_000"
  end

  def test_a_missing_file_is_an_error
    path = "#{temp_dir}/missing/c.rb"
    error = assert_raises(Bontebok::StartError) { open_file(path) }
    assert_equal ["cannot read the configuration file #{path}: No such file or directory", 1],
                 [error.message, error.exit_status]
  end

  private

  def read(text)
    open_file(@path = temp_file("bontebok.rb", text)).entries
  end

  def open_file(path)
    Bontebok::ConfigFile.new(path, style: Bontebok::ConfigStyles.of("bontebok"))
  end

  def assert_fault(exit_status, message, text)
    error = assert_raises(Bontebok::StartError) { read(text) }
    assert_equal [exit_status, 1], [error.exit_status, error.message.lines.size]
    assert_operator message, :===, error.message.delete_prefix(@path)
  end
end
