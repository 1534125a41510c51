# frozen_string_literal: true

require "test_helper"
require "ipaddr"
require "pathname"
require "set"
require "bontebok/config/config"
require "bontebok/config/config_styles"

# Tests that an option accepts each object that Ruby converts, and that a file with any other value has a fault with
# file and line: each directive of each style with each kind of wrong value.
class AnyValueTest < Support::TestCase
  # Constants for the files of the test.
  module Values
    WithPath = Struct.new(:to_path)
    WithText = Struct.new(:to_str)
    Listed = Struct.new(:to_ary)
    Hashed = Struct.new(:to_hash)
    # As ActiveSupport::Duration: no Integer, but a number for all its methods.
    Seconds = Struct.new(:to_f) do
      def to_int = to_f.to_i
    end
    Raising = Class.new { %i[to_s inspect to_str to_int].each { |name| define_method(name) { raise IOError, "a\nb" } } }
    Uninspectable = Class.new { %i[to_s inspect].each { |name| define_method(name) { raise IOError, "no" } } }
    NoText = Class.new { def to_s = 7 }
  end

  WRONG = ['""', "nil", "[]", "{}", "[nil]", "[[]]", "Object.new", "BasicObject.new", "Float::NAN", "Float::INFINITY",
           "-1", "-0.5", "10**30", "10**400", "1i", '"abc\0"', '"\xff"', '"x\ny"', '"x" * 100_000', '"1" * 5000',
           '"~no-such-user/x"', "String", "Kernel", "->(x) {}", "method(:puts)", "$stderr", "ENV", "1..2", "true",
           "false", ":sym", "(a = []; a << a)", "'text'.encode('UTF-16LE')", '"\u00e9".encode("ISO-8859-1")',
           "WithText.new(7)", "Raising.new", "Uninspectable.new", "NoText.new", "Listed.new([1])",
           "Hashed.new({ backlog: 7 })"].freeze

  # { line of the file => [key, effective value] }
  RIGHT = {
    'pidfile Pathname.new("/run/a.pid")' => [:pidfile, "/run/a.pid"],
    'log WithPath.new("/var/a.log")' => [:log, "/var/a.log"],
    'server WithText.new("shop")' => [:server, "shop"],
    "server :shop" => [:server, "shop"],
    'server "shop".encode("UTF-16LE")' => [:server, "shop"],
    "request_timeout Seconds.new(300)" => [:request_timeout, 300_000],
    "request_timeout Seconds.new(0.5)" => [:request_timeout, 500],
    "request_timeout 3/2r" => [:request_timeout, 1500],
    "backlog Seconds.new(7)" => [:backlog, 7],
    "threads 4.0" => [:threads, 4],
    "max_body 1.5 * 1024" => [:max_body, 1536],
    "x_sendfile Listed.new(['/usr'])" => [:x_sendfile, ["/usr"]],
    "health_paths Set['/a', '/b']" => [:health_paths, ["/a", "/b"]],
    'trusted_proxies [IPAddr.new("10.0.0.0/8"), "::1"]' => [:trusted_proxies, "10.0.0.0/8 ::1"],
    'directory Pathname.new("/usr")' => [:directory, "/usr"],
    "user 0" => [:user, "0"]
  }.freeze

  def setup
    @before = Dir.pwd
  end

  def teardown
    Dir.chdir(@before)
    super
  end

  RIGHT.each do |line, (key, value)|
    define_method("test_#{line}") do
      assert_equal value, config("bontebok", line)[key]
    end
  end

  def test_a_socket_is_a_pathname
    { "bontebok" => "listen Pathname.new('/run/a')", "unicorn" => "listen Pathname.new('/run/a'), " \
                                                                  "Hashed.new({ backlog: 7, umask: nil })" }
      .each { |style, line| assert_equal ["unix:/run/a"], config(style, line)[:listen].map(&:to_s) }
  end

  def test_a_file_that_is_loaded_has_a_pathname
    path = temp_file("more.rb", "threads 7\n")
    assert_equal 7, config("puma", "load Pathname.new('#{path}')")[:threads]
  end

  # The directives of a file for Rhebok are Bontebok's.
  (Bontebok::ConfigStyles::ALL.keys - ["rhebok"]).each do |style|
    define_method("test_wrong_values_in_a_file_for_#{style}") do
      WRONG.each { |value| assert_told(style, directives(style), value) }
    end
  end

  # Faults that are found after the file has been read.
  def test_the_line_of_a_late_fault
    { "puma" => ["load '/proc/none'", "plugin 'a'\nbind 'unix:/a'\ndirectory Object.new"],
      "pitchfork" => ["before_fork 7"] }.each do |style, texts|
      texts.each do |text|
        error = assert_raises(Bontebok::StartError) { config(style, text) }
        assert_match(/\A#{@path}:#{text.lines.size + 1}: /, error.message)
      end
    end
  end

  private

  def directives(style)
    Bontebok::ConfigStyles.of(style).public_instance_methods - Object.public_instance_methods - %i[single cluster]
  end

  # Each directive has a line of its own.
  def assert_told(style, names, value)
    config(style, names.map { |name| "#{name}(#{value})\n" }.join, faults: faults = Bontebok::Faults.new)
    faults.messages.each do |message|
      assert_match(/\A#{Regexp.escape(@path)}:\d+: /, message.b, value)
      assert_equal 1, message.lines.size, value unless value.include?('\n')
    end
  end

  def config(style, text, faults: nil)
    @path = temp_file("a.rb", "extend AnyValueTest::Values\n#{text}")
    Bontebok::Config.new({ config_file: [@path], config_style: [style] }, env: {}, faults: faults).tap(&:report)
  end
end
