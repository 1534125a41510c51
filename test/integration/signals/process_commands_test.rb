# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# Processes that the application forks, and commands that it executes, work as they do without a server.
class ProcessCommandsTest < Support::TestCase
  include ProcessTree

  REAPING = <<~'RUBY'
    def reap_own
      trap("CHLD") do
        while (pid = Process.wait(-1, Process::WNOHANG))
          $stderr.syswrite("reaped #{pid} in #{$$}\n")
          $reaped = true
        end
      rescue Errno::ECHILD
        nil
      end
    end
  RUBY
  SPAWNING = "run ->(env) { [200, {}, [spawn('true').to_s + ' in ' + Process.pid.to_s]] }\n"
  # In the master, the handler is called only until the application is loaded.
  AT_LOAD = <<~RUBY.freeze
    #{REAPING}
    reap_own
    $stderr.syswrite("spawned \#{spawn('true')} in \#{Process.pid}\n")
    sleep 0.001 until $reaped
    #{SPAWNING}
  RUBY

  # Each lambda in WAYS executes a command, and returns the command's soft limit of open files.
  WAYS = <<~RUBY
    require "open3"
    SHOW = ["sh", "-c", "ulimit -Sn"].freeze
    def written
      reader, writer = IO.pipe
      yield writer
      writer.close
      reader.read
    end
    WAYS = [
      -> { `ulimit -Sn;` },
      -> { Kernel.`("ulimit -Sn;") },
      -> { IO.popen(SHOW, &:read) },
      -> { IO.popen("ulimit -Sn;").read },
      -> { IO.popen({ "A" => "b" }, SHOW, "r", err: File::NULL, &:read) },
      -> { Open3.capture2(*SHOW).first },
      -> { written { |to| system(*SHOW, out: to) } },
      -> { written { |to| system({ "A" => "b" }, "ulimit -Sn;", out: to) } },
      -> { written { |to| Process.wait(spawn(*SHOW, { out: to })) } },
      -> { written { |to| Process.wait(spawn(*SHOW, 1 => to)) } },
      -> { written { |to| Process.wait(Process.spawn({ "A" => "b" }, *SHOW, out: to)) } },
      -> { written { |to| Process.wait(fork { exec(*SHOW, out: to) }) } },
      -> { written { |to| Process.wait(fork { $stdout.reopen(to); Process.exec("ulimit -Sn;") }) } }
    ].freeze
    OWN = -> { written { |to| system(*SHOW, out: to, rlimit_nofile: 90) } }
    run ->(env) { [200, {}, [[Process.getrlimit(:NOFILE), WAYS.map { |way| way.call.strip }, OWN.call.strip].inspect]] }
  RUBY

  def test_the_applications_chld_handler_is_called_for_its_processes
    [%w[-w 1], %w[-w 2 --preload false], %w[-w 0]].each do |args|
      server = start_bontebok(args: args, rackup: AT_LOAD)
      spawned = server.wait_for_output(/spawned (\d+ in \d+)/)[1]
      server.wait_for_output(/reaped #{spawned}/)
      assert_includes server.output.text, "reaped #{spawned}"
      3.times { server.wait_for_output(/reaped #{server.get.body}/) }
      server.stop
    end
  end

  def test_a_chld_handler_that_a_hook_sets_is_called
    temp_file("bontebok.rb", "#{REAPING}after_fork { reap_own }\n")
    server = start_bontebok(args: ["-w", "1", "-c", "bontebok.rb"], rackup: SPAWNING)
    2.times { assert server.wait_for_output(/reaped #{server.get.body}/) }
  end

  def test_a_worker_that_is_killed_is_replaced_although_the_application_handles_chld
    server = start_bontebok(args: %w[-w 1], rackup: AT_LOAD)
    server.wait_for_output(/ ready in \d+ ms$/)
    former = wait_for_workers(server, 1)
    Process.kill("KILL", *former)
    server.wait_for_output(/killed by SIGKILL/)
    assert_empty former & wait_for_workers(server, 1, without: former)
    server.wait_for_output(/reaped #{server.get.body}/)
  end

  def test_a_child_that_exits_loses_no_data
    [%w[-w 1], %w[-w 0]].each do |args|
      server = start_bontebok(args: args, rackup: <<~RUBY)
        run(lambda do |env|
          name = env["PATH_INFO"].delete_prefix("/")
          file = File.new(name, "w")
          child = -> { file.write("all") && (name == "raises" ? raise("in the child") : exit(3)) }
          if name == "block"
            pid = fork(&child)
          elsif !(pid = fork)
            name == "returns" ? file.write("all") : child.call
          end
          [200, {}, [pid ? Process.wait2(pid).last.exitstatus.to_s + File.read(name) : ""]]
        end)
      RUBY
      assert_equal(%w[3all 3all 1all 0all], %w[exit block raises returns].map { |name| server.get("/#{name}").body })
      server.stop
    end
  end

  # If the child did not end, it would continue as a second master or worker.
  def test_a_child_that_is_forked_by_a_hook_or_while_loading_ends_with_that_code
    temp_file("fork.rb", <<~'RUBY')
      def fork_one(name, how)
        unless fork
          $file = File.new(name, "w").tap { |file| file.write("all") }
          return if how == :return
          how == :raise ? raise("in the child") : exit(3)
        end
        status = Process.wait2.last
        $stderr.syswrite("#{name}: #{status.exitstatus} #{File.read(name)}\n")
      end
    RUBY
    temp_file("bontebok.rb", <<~RUBY)
      require "#{temp_dir}/fork.rb"
      on_booted { fork_one("booted", :exit) }
      after_fork { fork_one("forked", :return) }
    RUBY
    { "1" => ["load: 1 all", "forked: 0 all", "booted: 3 all"], "0" => ["load: 1 all", "booted: 3 all"] }
      .each do |workers, lines|
        server = start_bontebok(args: ["-w", workers, "-c", "bontebok.rb"],
                                rackup: "fork_one('load', :raise)\n#{SPAWNING}")
        lines.each { |line| server.wait_for_output(/^#{line}$/) }
        assert_equal 200, server.get.status
        refute_match(/failed|cannot/, server.output.text)
        server.stop
      end
  end

  # Some programs need a low limit: programs that use select(2), and programs that close every possible descriptor.
  def test_commands_have_the_limit_of_descriptors_that_the_server_was_started_with
    [%w[-w 1], %w[-w 0], %w[-w 1 --preload false]].each do |args|
      server = start_bontebok(args: args, rackup: WAYS, rlimit_nofile: [256, 512])
      limit, found, own = eval(server.get.body) # rubocop:disable Security/Eval
      assert_equal [[512, 512], ["256"], "90"], [limit, found.uniq, own]
      server.stop
    end
  end

  # A library may use alias_method to wrap system, spawn, exec, popen and `. The library's wrapper must call the former
  # method, and not itself again.
  def test_commands_have_the_limit_if_a_library_wraps_methods_by_alias_method
    wrapping = <<~'RUBY'
      WRAPPED = []
      { Kernel => %i[system spawn exec `], Kernel.singleton_class => %i[system spawn exec `],
        Process.singleton_class => %i[spawn exec], IO.singleton_class => %i[popen] }.each do |owner, names|
        names.each do |name|
          owner.alias_method(:"unwrapped #{name}", name)
          owner.define_method(name) do |*arguments, &block|
            WRAPPED << name
            __send__(:"unwrapped #{name}", *arguments, &block)
          end
        end
      end
    RUBY
    server = start_bontebok(args: %w[-w 1], rackup: wrapping + WAYS, rlimit_nofile: [256, 512])
    _, found, own = eval(server.get.body) # rubocop:disable Security/Eval
    assert_equal [["256"], "90"], [found.uniq, own]
  end

  def test_commands_have_a_limit_that_the_application_has_set
    server = start_bontebok(args: %w[-w 1], rlimit_nofile: [256, 512], rackup: <<~RUBY)
      run ->(env) { [200, {}, [Process.setrlimit(:NOFILE, 300, 400).to_s, `ulimit -Sn; ulimit -Hn`]] }
    RUBY
    assert_equal "300\n400\n", server.get.body
  end

  def test_timeout_works_in_threads_that_on_booted_has_started
    temp_file("bontebok.rb", <<~'RUBY')
      require "timeout"
      on_booted do
        tries = lambda do |where|
          Timeout.timeout(0.01) { sleep }
        rescue Timeout::Error
          $stderr.syswrite("timed out in #{where}\n")
        end
        tries.call("the hook")
        Thread.new { tries.call("a thread") }
      end
    RUBY
    %w[0 1].each do |workers|
      server = start_bontebok(args: ["-w", workers, "-c", "bontebok.rb"], rackup: SPAWNING)
      server.wait_for_output(/timed out in the hook/)
      server.wait_for_output(/timed out in a thread/)
      assert_includes server.output.text, "timed out in a thread"
      server.stop
    end
  end
end
