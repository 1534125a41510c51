# frozen_string_literal: true

require_relative "checks"

class ManifestTest < Lint::TestCase
  # Without Bundler's environment variables, a command uses only the packed gem.
  BARE = { "RUBYOPT" => nil, "BUNDLE_GEMFILE" => nil, "RUBYLIB" => nil, "GEM_HOME" => nil }.freeze

  def test_the_gem_packs_what_it_needs
    assert_clean Lint::Manifest
  end

  def test_missing_built_and_deleted_files_are_reported
    temp_file("core/src/a.c")
    temp_file("lib/b.so")
    found = Lint::Manifest.new(temp_dir, files: ["lib/b.so", "lib/c.rb"]).faults
    assert_equal ["core/src/a.c is needed and not packed", "lib/b.so is a built file, but the gem packs it",
                  "lib/c.rb is packed and not there"], found
  end

  if Support::Length::LONG
    # Installs the packed gem in another directory, and serves an application there without the checkout.
    def test_the_packed_gem_builds_serves_and_measures
      package = File.join(temp_dir, "bontebok.gem")
      run!("gem", "build", "--silent", "--output", package, "bontebok.gemspec", chdir: ROOT)
      home = File.join(temp_dir, "home")
      run!("gem", "install", "--local", "--ignore-dependencies", "--no-document", "--install-dir", home, package)

      environment = { "GEM_PATH" => [home, *Gem.path].join(File::PATH_SEPARATOR) }
      version = run!(RbConfig.ruby, File.join(home, "bin/bontebok"), "--version", env: environment)
      assert_includes version, Gem::Specification.load(File.join(ROOT, "bontebok.gemspec")).version.to_s
      assert_serves(RbConfig.ruby, File.join(home, "bin/bontebok"), environment)
    end
  end

  private

  # The load tool is built at its first use.
  def assert_serves(*command, environment)
    temp_file("app/config.ru", "run ->(_) { [200, {}, ['hello']] }\n")
    server = start_process(*command, "-w", "1", "-l", "127.0.0.1:0", chdir: File.join(temp_dir, "app"),
                                                                     env: BARE.merge(environment))
    server.wait_for_output(/ ready in /)
    url = "http://#{server.output.text[/listening on (\S+)/, 1]}/"
    assert_match(/^  statuses +200: 20$/, run!(*command, "bench", "-n", "20", url, env: environment))
    server.signal("TERM")
    assert_equal 0, server.wait.exitstatus
  end

  def run!(*command, env: {}, **options)
    child = Support::ChildProcess.run(*command, env: BARE.merge(env), limit: 300, **options)
    assert_predicate child.status, :success?, child.output.text
    child.output.text
  end
end
