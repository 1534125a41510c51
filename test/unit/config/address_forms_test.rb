# frozen_string_literal: true

require "test_helper"
require "bontebok/adapters/rack_handler"
require "bontebok/embedded/server_config"
require "bontebok/cli/command_line"
require "bontebok/config/supervisor_config"
require "bontebok/sockets/passed_listeners"

# Each form of an address in each place where a user writes one. The columns are the readings of these places:
#
#   here      -l, `listen` of bontebok.rb, -O Listen, and -o of rackup and Rails if the form is complete without a port
#   puma      `bind` of puma.rb, and -b
#   unicorn   `listen` of unicorn.rb
#
# A String is the address, where CWD is the working directory. A Regexp is the message of a refusal.
class AddressFormsTest < Support::TestCase
  FORMS = %r{wants HOST:PORT, PORT, \*:PORT, \[v6\]:PORT, unix:/path or unix:@name, not "}
  BIND = %r{bind wants tcp://HOST:PORT or unix://PATH, not }
  READ_OTHERWISE = /wants a unix path without %20, \? and #, which puma reads otherwise than nginx, not "/
  TWO_READINGS = %r{wants unix:///tmp/a \(as nginx and unicorn read it\) or unix:tmp/a \(as puma reads it\), not "}
  EMPTY = /wants a path or @name after unix:, not "/
  # -b also accepts what -l accepts, and puma.rb does not.
  ROWS = {
    "9292" => ["0.0.0.0:9292", BIND, "0.0.0.0:9292"],
    ":9292" => ["0.0.0.0:9292", BIND, "0.0.0.0:9292"],
    "*:9292" => ["*:9292", BIND, "0.0.0.0:9292"],
    "localhost:9292" => ["localhost:9292", BIND, "localhost:9292"],
    "[::1]:9292" => ["[::1]:9292", BIND, "[::1]:9292"],
    "[fe80::1%eth0]:80" => ["[fe80::1%eth0]:80", BIND, "[fe80::1%eth0]:80"],
    "tcp://127.0.0.1:80" => ["127.0.0.1:80", "127.0.0.1:80", "127.0.0.1:80"],
    "tcp://:9292" => ["0.0.0.0:9292", "0.0.0.0:9292", "0.0.0.0:9292"],
    "tcp://h:80/" => [FORMS, "h:80", FORMS],
    "h" => [FORMS, BIND, FORMS], "127.0.0.1" => [FORMS, BIND, "127.0.0.1:80"], "::1" => [FORMS, BIND, FORMS],
    "" => [FORMS, BIND, FORMS], "http://h:80" => [FORMS, BIND, FORMS], "tmp/a" => [FORMS, BIND, FORMS],
    "tcp://h" => [FORMS, FORMS, FORMS],
    "/run/a" => ["unix:/run/a", BIND, "unix:/run/a"],
    "./a" => ["unix:CWD/a", BIND, "unix:CWD/a"],
    "~/a" => ["unix:/home/x/a", BIND, "unix:/home/x/a"],
    "@a" => ["unix:@a", BIND, "unix:@a"],
    "unix:/run/a" => ["unix:/run/a"] * 3, "unix:///run/a" => ["unix:/run/a"] * 3,
    "unix:////run//a" => ["unix:/run/a"] * 3,
    "unix:tmp/a" => ["unix:CWD/tmp/a"] * 3, "unix:./a" => ["unix:CWD/a"] * 3,
    "unix://tmp/a" => [TWO_READINGS, "unix:CWD/tmp/a", "unix:/tmp/a"],
    "unix://./a" => [%r{unix:///\./a \(as nginx.* or unix:\./a \(as puma}, "unix:CWD/a", "unix:/a"],
    "unix:~/a" => ["unix:/home/x/a", "unix:CWD/~/a", "unix:/home/x/a"],
    "unix:@a" => ["unix:@a", "unix:@a", "unix:CWD/@a"],
    "unix://@a" => ["unix:@a", "unix:@a", "unix:/@a"],
    "unix:/a%20b" => [READ_OTHERWISE, "unix:/a b", "unix:/a%20b"],
    "unix:/a b" => ["unix:/a b"] * 3, "unix:/a%2Fb" => ["unix:/a%2Fb"] * 3,
    "/a%20b" => [READ_OTHERWISE, BIND, "unix:/a%20b"],
    "unix:/a#b" => [READ_OTHERWISE, "unix:/a", "unix:/a#b"],
    "unix:/a?b" => [READ_OTHERWISE, "unix:/a", "unix:/a?b"],
    "unix:/a?umask=7" => [/an address without \?umask= \(see --socket-mode\), not/, "unix:/a", "unix:/a?umask=7"],
    "unix:" => [EMPTY, EMPTY, "unix:CWD"], "unix://" => [EMPTY, EMPTY, "unix:/"],
    "unix:@" => [EMPTY, EMPTY, "unix:CWD/@"]
  }.freeze

  def test_the_places_of_this_server_have_one_table
    ROWS.each do |form, (here, _)|
      assert_reads here, "-l #{form}", config(listen: [form])
      assert_reads here, "bontebok.rb: #{form}", file("bontebok", "listen #{form.inspect}")
      next if form.empty?

      assert_reads here, "-O Listen=#{form}", -> { rackup(Listen: form) }
    end
  end

  # puma's Rack handler reads such a host in the same way. Without this, the port would become a part of the path.
  def test_a_unix_socket_in_the_place_of_a_host
    ROWS.select { |form, _| form.start_with?(*Bontebok::Address::UNIX) }.each do |form, (here, _)|
      assert_reads here, "-o #{form}", -> { rackup(Host: form) }
      assert_reads here, "rails server -b #{form}", -> { rails(form) }
      assert_reads here, "Server: #{form}", config(listen: [server(Host: form)])
      assert_reads here, "rhebok.rb: #{form}", file("rhebok", "host #{form.inspect}")
      assert_reads here, "port of puma.rb: #{form}", file("puma", "port 80, #{form.inspect}")
    end
  end

  def test_puma
    ROWS.each do |form, (here, puma, _)|
      assert_reads puma, "puma.rb: #{form}", file("puma", "bind #{form.inspect}")
      next if form.empty?

      typed = puma == BIND || form.include?("?") ? here : puma
      assert_reads typed, "-b #{form}", -> { config(Bontebok::CommandLine.new(["-b", form]).values).call }
    end
  end

  def test_unicorn
    ROWS.each do |form, (_, _, unicorn)|
      assert_reads unicorn, "unicorn.rb: #{form}", file("unicorn", "listen #{form.inspect}")
    end
  end

  # Rhebok reads nothing but a path.
  def test_path
    { "/run/a" => "unix:/run/a", "tmp/a" => "unix:CWD/tmp/a", "//tmp/a" => "unix:/tmp/a", "~/a" => "unix:CWD/~/a",
      "/a%20b?c" => "unix:/a%20b?c", "@a" => "unix:@a", "" => EMPTY }.each do |path, address|
      assert_reads address, "-O Path=#{path}", -> { rackup(Path: path) }
      assert_reads address, "rhebok.rb: #{path}", file("rhebok", "path #{path.inspect}")
      assert_reads address, "Server: #{path}", config(listen: [server(Path: path)])
    end
  end

  # In puma, the directory of the file is entered before the address is used; in unicorn, when its line is read.
  def test_the_directory_in_which_a_relative_path_begins
    directory = File.realpath(temp_dir)
    native = "listen 'unix:a'\ndirectory #{directory.inspect}"
    assert_reads "unix:#{directory}/a", "bontebok.rb", file("bontebok", native)
    assert_reads "unix:#{directory}/a", "puma.rb", file("puma", "bind 'unix://a'\ndirectory #{directory.inspect}")
    assert_reads "unix:CWD/a", "unicorn.rb", file("unicorn", "listen 'unix:a'\nworking_directory #{directory.inspect}")
  end

  # The working directory can be long. Without its length, a user cannot see why the path is refused.
  def test_a_message_shows_the_whole_path
    name = "n" * 107
    path = "#{Dir.pwd}/#{name}"
    tail = "of at most 107 bytes"
    long = " (#{path} has #{path.bytesize})"
    assert_reads(/: listen wants a unix path #{tail}#{Regexp.escape(long)}, not "unix:#{name}"\z/, "-l",
                 config(listen: ["unix:#{name}"]))
    assert_reads(/: control wants a file #{tail}, or none#{Regexp.escape(long)}, not "#{name}"\z/, "--control",
                 config(control: [name]))
    assert_reads(/not "#{name}"\z/, "not an address", config(listen: [name]))
  end

  def test_control_has_the_forms_of_a_file
    { "unix:/run/c" => "/run/c", "unix:c" => "#{Dir.pwd}/c", "c" => "#{Dir.pwd}/c", "none" => "none" }
      .each { |text, path| assert_equal path, Bontebok::Config.new({ control: [text] }, env: {})[:control], text }
    %w[@c unix:@c tcp://127.0.0.1:9293].each do |text|
      assert_reads(/control wants a file of at most 107 bytes, or none, not "#{text}"/, text, config(control: [text]))
    end
    assert_reads TWO_READINGS, "unix://", config(control: ["unix://tmp/a"])
  end

  # Processes pass addresses to each other as texts.
  def test_an_address_is_restored_from_its_text
    paths = ["/a%20b", "/a?umask=1", "@a?b", "/a#b"]
    former = config(listen: [*paths.map { |path| Bontebok::Address::Path.new(path) }, "[::1]:80"]).call
    sent = JSON.parse(JSON.generate(Bontebok::SupervisorConfig.dump(former)))
    addresses = Bontebok::SupervisorConfig.new(sent, former)[:listen]
    assert_equal [*paths.map { |path| "unix:#{path}" }, "[::1]:80"], addresses.map(&:to_s)
    UNIXServer.open(path = "#{temp_dir}/a%20b") do |socket|
      described = { "address" => "unix:#{path}" }
      assert_equal ["unix:#{path}"], Bontebok::PassedListeners.take([described], [socket.dup]).each(&:close).map(&:to_s)
    end
  end

  private

  def config(written)
    -> { Bontebok::Config.new(written, env: {}) }
  end

  def file(style, text)
    config(config_file: [temp_file("config.rb", "#{text}\n")], config_style: [style])
  end

  def server(**options) = Bontebok::ServerConfig.arguments(options)[0][:listen]

  def rackup(**options)
    Bontebok::RackHandler.config({ environment: "production", Port: 9292, Host: "0.0.0.0", **options }, env: {})
  end

  def rails(host)
    Bontebok::RailsOptions.new({ Host: host, Port: 3000, user_supplied_options: [:Host] }, env: {}).config
  end

  def assert_reads(expected, name, make)
    directory = Dir.pwd
    read = with_home { read(&make) }
    return assert_match(expected, read, name) if expected.is_a?(Regexp)

    assert_equal expected.sub("CWD", directory), read, name
  end

  def read
    former = Dir.pwd
    yield[:listen].join(" ")
  rescue Bontebok::UsageError => e
    e.message
  ensure
    Dir.chdir(former)
  end

  def with_home
    former = Dir.home
    ENV["HOME"] = "/home/x"
    yield
  ensure
    ENV["HOME"] = former
  end
end
