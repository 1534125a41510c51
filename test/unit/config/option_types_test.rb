# frozen_string_literal: true

require "test_helper"
require "bontebok/config/option_table"

# Tests the values that each type accepts, and the message for values that the type rejects.
class OptionTypesTest < Minitest::Test
  Types = Bontebok::OptionTypes

  def test_a_count_is_a_whole_number_in_its_range
    count = Types::Count.new(1..64)
    assert_reads count, "1" => 1, "64" => 64, 7 => 7, "08" => 8
    assert_refuses count, "a whole number from 1 to 64", "0", "65", "-1", "", "x", "1.5", 1.5, nil, "0x10"
  end

  def test_threads_may_be_written_as_for_puma
    threads = Types::ThreadCount.new(1..64)
    assert_reads threads, "5" => 5, "5:5" => 5, "0:16" => 16, 3 => 3
    assert_refuses threads, "a whole number from 1 to 64", "0", "0:0", "1:65", "5:", ":5"
    assert_refuses threads, "the smaller number first", "5:1"
  end

  def test_an_owner_exists
    owner = Bontebok::OptionValues::OWNER
    assert_reads owner, "root" => "root", "root:root" => "root:root", ":root" => ":root", "4711:4712" => "4711:4712"
    ["no-such-user", "root:no-such-group", ":no-such-group"].each do |text|
      error = assert_raises(Types::Invalid) { owner.check(owner.read(text)) }
      assert_equal "a user and a group that exist", error.message
    end
    assert_refuses owner, "a user, USER:GROUP, or :GROUP", "", "a b"
  end

  def test_a_count_may_be_auto
    count = Types::CountOrAuto.new(0..4)
    assert_reads count, "auto" => :auto, :auto => :auto, "0" => 0, "4" => 4
    assert_refuses count, "auto or a whole number from 0 to 4", "5", "automatic", ""
  end

  def test_a_size_is_in_bytes
    size = Types::Size.new(0..(2 << 30))
    assert_reads size, "10MB" => 10 << 20, "10MiB" => 10 << 20, "10m" => 10 << 20, "5B" => 5
    assert_reads size, "0" => 0, "512" => 512, "64K" => 65_536, "1m" => 1 << 20, "2G" => 2 << 30, 1024 => 1024
    assert_refuses size, "a size such as 65536, 64K, 1M or 2G", "", "K", "-1", "1.5K", "1T", "1 K", "\xff"
    assert_refuses size, "a size from 0 to 2G", "3G"
  end

  def test_a_duration_is_in_milliseconds
    assert_reads Types::Duration.new, "0" => 0, "30" => 30_000, "0.5" => 500, "250ms" => 250, "2s" => 2000,
                                      "2m" => 120_000, "1h" => 3_600_000, 1.5 => 1500, 75 => 75_000
  end

  def test_a_duration_is_never_rounded_to_zero
    duration = Types::Duration.new
    assert_refuses duration, "a time such as 30, 0.5, 500ms, 2m or 1h", "", "-1", "soon", "1d", ".5", "1e3", "\xff"
    assert_refuses duration, "a time from 1 ms to a year, or 0", "0.0001", "0.4ms", "9000h"
  end

  def test_networks_are_normalized
    networks = Types::Networks.new
    assert_reads networks, "unix" => "unix", "" => "", " " => "", [] => "", "none" => "", "10.0.0.1" => "10.0.0.1",
                           "unix, 10.9.8.7/8  ::1" => "unix 10.0.0.0/8 ::1", %w[::1 ::1/128] => "::1",
                           "192.0.2.0/255.255.255.0,2001:db8::/32" => "192.0.2.0/24 2001:db8::/32"
    wanted = "addresses, networks (10.0.0.0/8), or unix"
    assert_refuses networks, wanted, "example.org", "10.0.0.0/33", "10.0.0", "10.0.0.1:80", "UNIX", "\xff", "/8", 7
    assert_refuses networks, "addresses without a zone", "fe80::1%eth0"
    assert_refuses networks, "at most 128 networks", "unix " * 129
    { "" => "none", "unix ::1" => "unix ::1" }.each { |value, text| assert_equal text, networks.show(value) }
  end

  def test_a_switch_is_true_or_false
    assert_reads Types::Switch.new, "true" => true, "yes" => true, "on" => true, "1" => true, true => true,
                                    "false" => false, "no" => false, "off" => false, "0" => false, false => false,
                                    "True" => true, "OFF" => false
    assert_refuses Types::Switch.new, "true or false", "", "t", "2", "\xff", nil
  end

  def test_a_path_of_probes_has_no_query
    path = Bontebok::OptionTable[:ready_path].type
    longest = "/#{'x' * 254}"
    assert_reads path, "/" => "/", "/-/ready" => "/-/ready", longest => longest, "" => ""
    assert_refuses path, "a path that begins with /, of at most 255 characters", "ready", "/a?b", "/a b", "/\xff",
                   "#{longest}x"
  end

  def test_a_text_must_match_its_pattern
    text = Types::Text.new("NAME", /\A[a-z]+\z/, "small letters")
    assert_reads text, "abc" => "abc", :abc => "abc"
    assert_refuses text, "small letters", "", "ABC", "abc\n", "ab\xff"
  end

  def test_a_file_mode_is_octal
    mode = Types::FileMode.new
    assert_reads mode, "0660" => 0o660, "777" => 0o777, 0o600 => 0o600, "000" => 0
    assert_refuses mode, "a mode from 0000 to 0777", "", "rw", "66", "0888", "01777", "0o660", 660, -1, nil, "\xff"
    assert_equal "0660", mode.show(0o660)
  end

  def test_a_path_begins_with_a_slash
    paths = Types::Paths.new(255)
    assert_reads paths, "/up" => ["/up"], "/up  /healthz" => ["/up", "/healthz"], ["/up", :"/~a"] => ["/up", "/~a"],
                        "none" => [], "" => [], [] => []
    assert_refuses paths, "paths that begin with /, of 255 characters in all", "up", "/up?x", "/u#p", "/ up",
                   "/\u00fc", "/\xff", "/#{'x' * 255}", ["/up none"]
    assert_equal "/up /healthz", paths.show(["/up", "/healthz"])
  end

  def test_places_of_files_are_directories_or_mappings
    places = Types::SendfilePlaces.new
    assert_reads places, "/srv/files" => ["/srv/files"], "none" => [], "" => [], [] => [],
                         "/a /up/=files" => ["/a", "/up/=#{Dir.pwd}/files"], ["/a b", "/=/c"] => ["/a b", "/=/c"]
    assert_refuses places, "directories, or /uri=directory, of 1023 bytes in all", "up=/a", "=/a", "/a=", "/a=/b=/c",
                   "/#{'x' * 1023}", ["a\0b"], ["a\nb"], "~nobody-here"
    assert_equal "/a /up=/b", places.show(["/a", "/up=/b"])
  end

  def test_a_file_name_may_have_any_bytes
    assert_reads Bontebok::OptionTable[:rackup].type, "\xff.ru" => "\xff.ru", "Käse.ru" => "Käse.ru"
    assert_refuses Bontebok::OptionTable[:rackup].type, "a file", "", "a\0b"
  end

  # The application can change the working directory.
  def test_a_directory_becomes_absolute
    directory = Bontebok::OptionTable[:spool_dir].type
    assert_reads directory, "spool" => "#{Dir.pwd}/spool", "/var/../tmp/" => "/tmp", "~" => Dir.home
    assert_refuses directory, "a directory of at most 255 bytes", "", "a\0b", "/#{"x" * 255}", "~nobody-of-this-name"
    long = "#{Dir.pwd}/#{"x" * 250}"
    assert_refuses directory, "a directory of at most 255 bytes (#{long} has #{long.bytesize})", "x" * 250
  end

  def test_a_log_target_is_a_file_a_dash_or_syslog
    target = Bontebok::OptionTable[:access_log].type
    assert_reads target, "log" => "#{Dir.pwd}/log", "/a/../log" => "/log", "-" => "-", "" => "",
                         "syslog:tag=a" => "syslog:tag=a", "-log" => "#{Dir.pwd}/-log"
    assert_refuses target, "a file, - or syslog:..., of at most 255 bytes",
                   "a\0b", "/#{"x" * 255}", "syslog:#{"x" * 255}", "syslog:\0", "|cat"
  end

  def test_a_list_has_each_address_once
    addresses = Types::Addresses.new
    assert_equal "0.0.0.0:80, unix:@x", addresses.show(addresses.read(["80", "unix:@x"]))
    assert_equal "127.0.0.1:0, 127.0.0.1:0", addresses.show(addresses.read(["127.0.0.1:0", "127.0.0.1:0"]))
    assert_refuses addresses, "each address once", %w[80 0.0.0.0:80]
    assert_refuses addresses, "an address", []
  end

  def test_a_shown_value_can_be_read_again
    { Types::Size.new(0..(1 << 40)) => [0, 1, 1000, 1024, 1025, 1 << 20, 3 << 30],
      Types::Duration.new => [0, 1, 10, 999, 1000, 1500, 75_000],
      Types::Switch.new => [true, false] }.each do |type, values|
      values.each { |value| assert_equal value, type.read(type.show(value)), "#{type.class}: #{type.show(value)}" }
    end
  end

  private

  def assert_reads(type, expected)
    expected.each { |written, value| assert_equal value, type.read(written), "for #{written.inspect}" }
  end

  def assert_refuses(type, message, *written)
    written.each do |value|
      error = assert_raises(Types::Invalid, "for #{value.inspect}") { type.read(value) }
      assert_equal message, error.message
    end
  end
end
