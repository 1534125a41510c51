# frozen_string_literal: true

require "test_helper"

# From the rackup file to the first response: encodings, Rack 2's option line, other Ruby files, environment variables.
class CLIRackupTest < Support::TestCase
  def test_a_rackup_file_is_utf8_under_lang_c
    server = start_bontebok(args: ["-w", "1"], env: { "LANG" => "C", "LC_ALL" => "C" },
                            rackup: "run ->(_) { [200, {}, ['Käse ', 'ä'.encoding.to_s]] }\n")
    assert_equal "Käse UTF-8".b, server.get.body
  end

  def test_the_option_line_of_rack_2_is_ignored
    server = start_bontebok(args: ["-w", "1"], lint: false,
                            rackup: "#\\ -w -p 1\nrun ->(_) { [200, {}, ['fine']] }\n")
    assert_equal "fine", server.get.body
    server.wait_for_output(/options in a line that begins with #\\ are ignored/)
  end

  # rackup gives the application to the server.
  def test_a_file_of_another_server_is_named
    temp_file("config/puma.rb", "")
    unread = %r{warn .* config/puma.rb is not read: `bontebok -c config/puma.rb` reads it$}
    server = start_bontebok(args: ["-w", "1"], rackup: "run ->(_) { [200, {}, []] }\n")
    server.wait_for_output(unread)
    rackup = start_process("bundle", "exec", "rackup", "-s", "bontebok", "-O", "Listen=unix:#{temp_dir}/b.sock",
                           "-O", "MaxWorkers=1", chdir: temp_dir)
    rackup.wait_for_output(unread)
    [server, rackup].each { |one| assert_equal 0, one.stop.exitstatus }
  end

  def test_a_ruby_file_is_served
    path = temp_file("my_app.rb", "module MyApp\n  def self.call(_) = [200, {}, ['from ' + __FILE__]]\nend\n")
    server = start_bontebok(args: ["-w", "1", path])
    assert_equal "from #{path}", server.get.body
  end

  def test_no_middleware_is_added_in_development
    server = start_bontebok(args: ["-w", "1", "-E", "development"], lint: false, rackup: <<~RUBY)
      app = ->(_) { [200, {}, [caller.grep_v(/config\\.ru/).grep(/rack/).join]] }
      run app
    RUBY
    assert_equal "", server.get.body
  end

  def test_rack_env_is_set_before_the_application_loads
    rackup = "AT_LOAD = ENV['RACK_ENV']\nrun ->(_) { [200, {}, [AT_LOAD]] }\n"
    { [] => "development", %w[-E staging] => "staging" }.each do |args, environment|
      server = start_bontebok(args: ["-w", "1", *args], rackup: rackup)
      assert_equal environment, server.get.body
      server.stop
    end
  end

  def test_rack_env_of_the_shell_is_kept
    server = start_bontebok(args: ["-w", "1"], env: { "RACK_ENV" => "qa" },
                            rackup: "run ->(_) { [200, {}, [ENV['RACK_ENV']]] }\n")
    assert_equal "qa", server.get.body
    assert_match(/, qa: 1 worker/, server.output.text)
  end

  def test_rack_also_puts_its_temporary_files_into_spool_dir
    directory = File.join(temp_dir, "spool").tap { |path| Dir.mkdir(path) }
    server = start_bontebok(args: ["-w", "1", "--spool-dir", directory],
                            rackup: "require 'tmpdir'\nrun ->(_) { [200, {}, [Dir.tmpdir]] }\n")
    assert_equal directory, server.get.body
  end

  def test_a_spool_dir_is_relative_to_the_directory_of_the_start
    Dir.mkdir(File.join(temp_dir, "spool"))
    server = start_bontebok(args: ["-w", "1", "--spool-dir", "spool", "--spool-threshold", "1"], rackup: <<~RUBY)
      Dir.chdir("/")
      run ->(env) { [200, {}, [env["rack.input"].read, ENV.fetch("TMPDIR")]] }
    RUBY
    response = server.request("POST", "/", { "Content-Length" => "4" }, "body")
    assert_equal "body#{temp_dir}/spool", response.body
  end

  def test_a_configuration_file_sets_the_options
    path = temp_file("bontebok.rb", <<~RUBY)
      max_workers 2
      threads 3
      server "configured/1"
      listen "unix:#{temp_dir}/configured.sock"
    RUBY
    server = start_bontebok(listen: nil, args: ["-c", path], rackup: "run ->(_) { [200, {}, []] }\n")
    assert_equal ["unix:#{temp_dir}/configured.sock"], server.addresses.map(&:to_s)
    assert_match(/: 2 workers of 3 threads$/, server.output.text)
    assert_equal "configured/1", server.get["Server"]
  end

  def test_a_backtrace_is_shown_in_development_only
    rackup = "run ->(_) { raise 'secret detail' }\n"
    server = start_bontebok(args: ["-w", "1", "-E", "development"], rackup: rackup)
    assert_match(/secret detail/, server.get.body)
    server.stop
    server = start_bontebok(args: ["-w", "1", "-E", "production"], rackup: rackup)
    response = server.get
    assert_equal 500, response.status
    refute_match(/secret/, response.body)
    server.wait_for_output(/secret detail \(RuntimeError\)/)
  end
end
