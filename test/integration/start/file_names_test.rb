# frozen_string_literal: true

require "json"
require "test_helper"

# File names are bytes, mostly UTF-8. Under LC_ALL=C, Ruby gives names from the system the encoding US-ASCII. If such a
# name has bytes that are not ASCII, Ruby raises when the name is joined with a UTF-8 string. Names that are not ASCII
# must still work.
class FileNamesTest < Support::TestCase
  APPLICATION = <<~RUBY
    require_relative "lib/größe"
    run ->(env) { [200, {}, ["\#{Dir.pwd.b} \#{__FILE__.b} \#{SIZE}"]] }
  RUBY

  def setup
    temp_file("diré/lib/größe.rb", "SIZE = 7\n")
    rackup_file("diré/äpp.ru", APPLICATION)
    rackup_file("diré/config.ru", APPLICATION)
  end

  [1, 0].each do |workers|
    define_method(:"test_directory_rackup_file_and_socket_may_have_any_names_with_#{workers}_workers") do
      { nil => "äpp.ru", directory => "äpp.ru", nil.to_s => "../diré/äpp.ru" }.each do |pwd, rackup|
        server = start("-w", workers, "-l", "unix:ß.sock", rackup, chdir: directory, pwd: pwd)

        assert_equal "unix:#{directory}/ß.sock".b, server.address.to_s.b
        assert_equal "#{directory} #{directory}/äpp.ru 7".b, server.get.body.b
        assert_equal 0, server.stop.exitstatus
        refute_path_exists "#{directory}/ß.sock"
      end
    end
  end

  def test_files_of_options_and_configuration_may_have_any_names
    temp_file("diré/config/bontebok.rb", "rackup 'äpp.ru'\npidfile 'pïd'\nlisten 'unix:ß.sock'\nmax_workers 1\n")
    server = start("--directory", "diré", "--log", "lög.txt", "--log-format", "json", "--restart-file", "nëu",
                   "--access-log", "#{directory}/äccess", chdir: temp_dir, pwd: temp_dir, ready: false)
    eventually { File.exist?("#{directory}/lög.txt") && File.read("#{directory}/lög.txt").include?("ready in") }

    assert_equal "#{directory} #{directory}/äpp.ru 7", get("unix:#{directory}/ß.sock")
    assert_path_exists "#{directory}/pïd"
    entries = File.readlines("#{directory}/lög.txt").map { |line| JSON.parse(line)["message"] }
    assert_includes entries, "listening on unix:#{directory}/ß.sock"
    server.signal("HUP")
    eventually { File.read("#{directory}/lög.txt").include?("exit status 0") }
    assert_equal "#{directory} #{directory}/äpp.ru 7", get("unix:#{directory}/ß.sock")
    assert_equal 0, server.stop.exitstatus
    assert_match(/GET/, File.read("#{directory}/äccess"))
  end

  def test_the_message_of_a_failed_start_can_contain_any_file_name
    { ["nöne.ru"] => "#{directory}/nöne.ru: No such file", ["--directory", "nöne"] => "nöne: No such file",
      ["-c", "nöne.rb"] => "nöne.rb: No such file",
      ["-l", "unix:nöne/ß"] => "#{directory}/nöne/ß: its directory does not exist",
      ["--log", "nöne/lög"] => "nöne/lög: its directory does not exist" }.each do |args, message|
      server = start("-w", "1", *args, chdir: directory, pwd: directory, ready: false)

      assert_equal 1, server.wait.exitstatus
      server.output.wait_for_end
      assert_includes server.output.text.b, message.b
    end
  end

  private

  def directory
    "#{File.realpath(temp_dir)}/diré"
  end

  def start(*args, chdir:, pwd:, ready: true)
    server = Support::ServerProcess.new(RbConfig.ruby, Support::BontebokProcess::EXECUTABLE, *args.map(&:to_s),
                                        chdir: chdir, env: { "PWD" => pwd, "LC_ALL" => "C" })
    children << server
    server.wait_until_ready if ready
    server
  end

  def get(address)
    Support::Client.open(address) do |client|
      client.get.body.force_encoding(Encoding::UTF_8)
    end
  end
end
