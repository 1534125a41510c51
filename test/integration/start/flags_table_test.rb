# frozen_string_literal: true

require "test_helper"

# Starts the server under Ruby's flags and variables, one start for each row of a table. The application, the
# configuration file and the working directory have characters beyond ASCII. No line of standard error names one of our
# files, except the lines in which -d reports each exception. `bin/test --full` runs the whole table.
class FlagsTableTest < Support::TestCase
  # Each row has flags. These rows have the flags that find most faults.
  DEBUG = %w[-d -w -W:deprecated -W:experimental --enable=frozen-string-literal --debug-frozen-string-literal].freeze
  SHORT = [%w[-EISO-8859-1:EUC-JP --disable=did_you_mean,error_highlight]].freeze
  LONG = %w[-d --debug -w -v --verbose -W0 -W1 -W2 -W:deprecated -W:experimental -W:performance -W:strict_unused_block
            -W:no-deprecated -W:no-experimental -W:no-performance --yjit --jit --rjit --mjit --zjit --disable=gems
            --disable=did_you_mean --disable=error_highlight --disable=syntax_suggest --disable=rubyopt --disable=jit
            --disable-all --enable=frozen-string-literal --disable=frozen-string-literal
            --debug-frozen-string-literal --backtrace-limit=0 --backtrace-limit=3 --parser=parse.y --parser=prism -Ku
            -Ke -Ks -Kn -U -Eascii:utf-8 -EISO-8859-1:ISO-8859-1 --encoding=Shift_JIS --internal-encoding=us-ascii
            --external-encoding=ISO-8859-15 -Ilib -rlogger -rtracer -rcoverage -rdebug/prelude -x -a
            -l].zip.push(%w[-EISO-8859-1:UTF-8], %w[-EUTF-8:EUC-JP]).freeze
  # { variable => value }
  VARIABLES = [
    { "RUBYOPT" => "-w -W:deprecated" }, { "RUBYOPT" => "-rdebug/prelude" },
    { "RUBYOPT" => "-rbundler/setup", "BUNDLE_GEMFILE" => "#{ROOT}/Gemfile" }, { "RUBYOPT" => "-rwarning" },
    { "LC_ALL" => "POSIX" }, { "LC_ALL" => nil, "LANG" => "C" }, { "LC_ALL" => "C", "RUBYOPT" => "-E:EUC-JP" },
    { "RUBY_GC_HEAP_GROWTH_FACTOR" => "x" }, { "RUBY_GC_MALLOC_LIMIT" => "1000" },
    { "RUBY_THREAD_VM_STACK_SIZE" => "131072", "RUBY_FIBER_VM_STACK_SIZE" => "65536" },
    { "RUBY_THREAD_VM_STACK_SIZE" => "16777216" }, { "RUBY_FREE_AT_EXIT" => "1" }, { "RUBY_YJIT_ENABLE" => "1" },
    { "RUBY_MN_THREADS" => "1" }, { "RUBYSHELL" => "/none" }, { "RUBY_CRASH_REPORT" => "/dev/null" },
    { "MALLOC_ARENA_MAX" => "2" }
  ].freeze
  # Without the flags that the harness gives to other servers.
  ENVIRONMENT = { "RUBYOPT" => nil }.freeze

  CONFIG = <<~'RUBY'
    # Käse ☃
    after_fork { |worker| "Käse #{worker.number}".encode("UTF-8") }
  RUBY
  APP = "run ->(_) { [200, {}, [[$DEBUG, $VERBOSE, 'Käse ☃'].join(' ')]] } # ☃\n"

  (SHORT + (Support::Length::LONG ? LONG : [])).each do |flags|
    define_method("test_a_start_under_#{flags.join(' ')}") { assert_serves(flags, {}) }
  end

  if Support::Length::LONG
    VARIABLES.each do |env|
      define_method("test_a_start_under_#{env.map { |pair| pair.join('=') }.join(' ')}") { assert_serves([], env) }
    end

    def test_ruby_finds_the_command_in_path
      assert_serves(%w[-S], { "PATH" => "#{ROOT}/exe:#{ENV.fetch('PATH')}" }, command: "bontebok")
    end
  end

  # The next master has the flags, too. Without a configuration file, the server looks for those of other servers.
  def test_a_start_and_a_deploy_with_the_flags_for_debugging
    assert_serves(DEBUG, {}, config: nil) do |server|
      server.signal("USR2")
      server.wait_for_output(/master \(pid \d+\) has left/)
      assert_equal "true true Käse ☃", server.get.body.force_encoding("UTF-8")
    end
  end

  def test_without_rubygems_a_missing_rack_is_told
    server = start(%w[--disable=gems], { "RUBYLIB" => nil }, ready: false)
    assert_equal 1, server.wait.exitstatus
    server.output.wait_for_end
    assert_match(/error .* cannot be loaded: rack is not found: Ruby runs without RubyGems, so -I or RUBYLIB must name/,
                 server.output.text)
  end

  private

  def assert_serves(flags, env, command: Support::BontebokProcess::EXECUTABLE, **options)
    known = Support::ChildProcess.run(RbConfig.ruby, *flags.grep_v("-S"), "-e", "", env: { **ENVIRONMENT, **env })
    return skip("unknown here") unless known.status.success?

    server = start(flags, env, command: command, **options)
    assert_equal "Käse ☃", server.get.body.force_encoding("UTF-8")[/K.*/]
    check = Support::ChildProcess.run(RbConfig.ruby, *flags, command, "--check", chdir: @directory,
                                                                                 env: { **ENVIRONMENT, **env })
    assert_equal [0, []], [check.status.exitstatus, ours(check)], check.output.text
    yield server if block_given?
    assert_equal [0, []], [server.stop.exitstatus, ours(server)]
  end

  def start(flags, env, command: Support::BontebokProcess::EXECUTABLE, ready: true, config: CONFIG)
    @directory = File.dirname(temp_file("Gärten ☃/config.ru", APP))
    temp_file("Gärten ☃/config/bontebok.rb", config) if config
    FileUtils.mkdir("#{@directory}/tmp")
    server = Support::ServerProcess.new(RbConfig.ruby, *flags, command, "-l", "unix:#{temp_dir}/s", "-w", "1",
                                        chdir: @directory, env: { **ENVIRONMENT, **env })
    children << server
    ready ? server.wait_until_ready : server
  end

  def ours(process)
    process.output.text(:stderr).lines.grep(/#{Regexp.escape(ROOT)}/).grep_v(/\AException `/)
  end
end
